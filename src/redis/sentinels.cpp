#include "redis/sentinels.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "redis/facts.hpp"
#include "redis/needs.hpp"
#include "runtime/clock.hpp"
#include "store/answer.hpp"

namespace holdfast::redis {

namespace {

using runtime::later;
using place = net::url::place;

bool same(const place& one, const place& other) { return one.host == other.host && one.port == other.port; }

/// Nothing: the words are none of an address.
std::optional<place> place_of(const std::string& host, const std::string& port) {
  const std::optional<std::int64_t> n = number_of(port);
  if (host.empty() || !n || *n < 1 || *n > 65535) return std::nullopt;
  return place{host, static_cast<int>(*n)};
}

/// {host, port}
std::optional<place> place_in(const value& answer) {
  return answer.items.size() == 2 ? place_of(answer.items[0].text, answer.items[1].text) : std::nullopt;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

[[noreturn]] void refuse(const value& error) {
  const std::string_view text = error.text;
  const bool wants_one = text.starts_with("NOAUTH"), wrong = text.starts_with("WRONGPASS");
  std::string why = "it says: " + error.text.substr(0, 512);
  if (wants_one) why += " (sentinels have a password of their own: sentinel_password_file= in the URL)";
  if (wrong) why += " (sentinel_user or the password of the sentinels is wrong)";
  if (is_forbidden(text)) why += " (docs/stores/redis.md has the ACL line for sentinels)";
  if (text.starts_with("ERR unknown command")) {
    throw seam::failure(errc::unsupported, why + " (it is no sentinel: of a server alone write redis://)");
  }
  throw seam::failure(wants_one || wrong || is_forbidden(text) ? errc::denied : errc::not_ready, why);
}

/// Names and values in turn, for each; those that are called "name".
std::string names_in(const value& services) {
  std::string all;
  for (const value& each : services.items) {
    for (std::size_t n = 0; n + 1 < each.items.size(); n += 2) {
      if (each.items[n].text == "name") all.append(all.empty() ? "" : ", ").append(each.items[n + 1].text);
    }
  }
  return all;
}

}  // namespace

/// What `use` makes of the first of them that can be used. Each has an equal share of the time, and so has the primary.
template <class F>
auto sentinels::in_turn(const limit& l, F use) {
  const std::vector<place>& all = settings_.sentinels->at;
  const std::size_t first = known_.with([](const knowledge& k) { return k.first; });
  const auto share = settings_.connect_timeout / static_cast<std::int64_t>(all.size() + 1);
  std::string tried;
  std::optional<errc> why;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::size_t which = (first + n) % all.size();
    const limit nearer(std::min(l.at(), later(boot_clock::now(), share)), l.stop());
    errc code = errc::unreachable;
    tried.append(tried.empty() ? "" : "; ").append(text_of(all[which])).append(": ");
    try {
      auto got = use(greet(all[which], nearer), nearer);
      known_.with([&](knowledge& k) { k.first = which; });
      return got;
    } catch (const net::broken& e) {
      if (e.for_good()) code = errc::denied;
      tried += e.what();
    } catch (const malformed& e) {
      tried.append("not the words of a sentinel: ").append(e.what());
    } catch (const seam::failure& e) {
      code = e.code;
      tried += e.text;
    }
    // For good only if all of them say the same.
    why = !why || *why == code ? code : errc::unreachable;
  }
  throw seam::failure(*why, "no sentinel says where the primary of " + settings_.sentinels->service + " is; " + tried);
}

sentinels::primary sentinels::find(const limit& l) {
  const auto use = [this](std::unique_ptr<connection> to, const limit& soon) { return ask(*to, soon); };
  return know(in_turn(l, use));
}

std::unique_ptr<connection> sentinels::subscribe(const limit& l) {
  const auto use = [](std::unique_ptr<connection> to, const limit& soon) {
    command subscribe(2);
    subscribe.add("SUBSCRIBE").add("+switch-master");
    const value v = to->ask(subscribe, soon);
    if (v.is(value::kind::error)) refuse(v);
    return to;
  };
  return in_turn(l, use);
}

std::unique_ptr<connection> sentinels::greet(const place& at, const limit& l) const {
  const sentinel_settings& them = *settings_.sentinels;
  auto made = std::make_unique<connection>(reach(at, settings_.timeout, tls_, l), true);
  command hello(them.password.empty() ? 2 : 5);
  hello.add("HELLO").add("3");
  if (!them.password.empty()) hello.add("AUTH").add(them.user.empty() ? "default" : them.user).add(them.password);
  const value v = without_secret(made->ask(hello, l), them.password);
  if (v.is(value::kind::error)) refuse(v);
  return made;
}

command sentinels::question() const {
  command c(3);
  c.add("SENTINEL").add("GET-MASTER-ADDR-BY-NAME").add(settings_.sentinels->service);
  return c;
}

sentinels::place sentinels::ask(connection& to, const limit& l) const {
  const value v = to.ask(question(), l);
  if (v.is(value::kind::error)) refuse(v);
  if (std::optional<place> found = place_in(v)) return std::move(*found);
  command all(2);
  all.add("SENTINEL").add("MASTERS");
  const value services = to.ask(all, l);
  const std::string names = names_in(services);
  throw seam::failure(errc::bad_url, "it knows no service " + settings_.sentinels->service +
                                         (names.empty() ? "; SENTINEL MASTERS shows those that it knows"
                                                        : "; those that it knows: " + names));
}

std::vector<sentinel_view> sentinels::views(const limit& l) const {
  const std::vector<place>& all = settings_.sentinels->at;
  const auto share = settings_.connect_timeout / static_cast<std::int64_t>(all.size());
  std::vector<sentinel_view> seen;
  for (const place& each : all) {
    const limit nearer(std::min(l.at(), later(boot_clock::now(), share)), l.stop());
    sentinel_view& one = seen.emplace_back(sentinel_view{.from = text_of(each)});
    try {
      look(each, one, nearer);
    } catch (const seam::failure& e) {
      one.why = e.text;
    } catch (const std::exception& e) {
      one.why = e.what();
    }
  }
  return seen;
}

void sentinels::look(const place& at, sentinel_view& into, const limit& l) const {
  const std::unique_ptr<connection> to = greet(at, l);
  command c(3);
  c.add("SENTINEL").add("MASTER").add(settings_.sentinels->service);
  const value v = to->ask(c, l);
  if (v.is(value::kind::error)) refuse(v);
  const facts said = facts::of_config(v);
  const std::optional<place> named = place_of(std::string(said.text("ip")), std::string(said.text("port")));
  if (!named) throw net::broken("its answer makes no sense");
  into.primary = text_of(*named);
  into.others = said.number("num-other-sentinels").value_or(0);
  into.quorum = said.number("quorum").value_or(0);
}

bool sentinels::hear(const value& v) {
  if (!v.is(value::kind::push)) {
    if (std::optional<place> at = place_in(v)) (void)know(std::move(*at));
    return true;
  }
  if (v.items.size() != 3 || v.items[0].text != "message") return false;
  // The service, its old address, its new one.
  const std::vector<std::string> words = words_of(v.items[2].text);
  if (words.size() != 5 || words[0] != settings_.sentinels->service) return false;
  if (std::optional<place> at = place_of(words[3], words[4])) (void)know(std::move(*at));
  return false;
}

sentinels::primary sentinels::know(place at) {
  std::optional<std::stop_source> before;
  primary now;
  known_.with([&](knowledge& k) {
    if (!k.at.host.empty() && !same(k.at, at)) before = std::exchange(k.moved, std::stop_source());
    k.at = at;
    now = {std::move(at), k.moved.get_token()};
  });
  if (before) {
    before->request_stop();
    if (moved_) moved_();
  }
  return now;
}

}  // namespace holdfast::redis
