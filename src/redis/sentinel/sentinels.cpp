#include "redis/sentinel/sentinels.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/server_info.hpp"
#include "runtime/clock.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;

namespace {

using runtime::later;

constexpr const char* senseless = "its answer makes no sense";
constexpr std::string_view chooses = "+selected-slave", promotes = "+promoted-slave", switches = "+switch-master";

/// Returns nothing if the words are not an address.
std::optional<net::endpoint> endpoint_of(const std::string& host, const std::string& port) {
  const std::optional<std::int64_t> n = number_of(port);
  if (host.empty() || !n || *n < 1 || *n > 65535) return std::nullopt;
  return net::endpoint{host, static_cast<int>(*n)};
}

/// The epoch of a service, from SENTINEL MASTER.
std::optional<std::int64_t> epoch_in(const value& service) {
  return server_info::of_config(service).number("config-epoch");
}

/// {host, port}
std::optional<net::endpoint> endpoint_in(const value& answer) {
  return answer.items.size() == 2 ? endpoint_of(answer.items[0].text, answer.items[1].text) : std::nullopt;
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

constexpr const char* acl_line = " (docs/stores/redis.md has the ACL line for sentinels)";

[[noreturn]] void throw_refusal(const value& error) {
  const std::string_view text = error.text;
  const bool wants_one = text.starts_with("NOAUTH"), wrong = text.starts_with("WRONGPASS");
  std::string why = "it says: " + error.text.substr(0, 512);
  if (wants_one) why += " (sentinels have a password of their own: sentinel_password_file= in the URL)";
  if (wrong) why += " (sentinel_user or the password of the sentinels is wrong)";
  if (is_forbidden(text)) why += acl_line;
  if (text.starts_with("ERR unknown command")) {
    throw storage::failure(errc::unsupported, why + " (it is no sentinel: of a server alone write redis://)");
  }
  throw storage::failure(wants_one || wrong || is_forbidden(text) ? errc::denied : errc::not_ready, why);
}

/// Subscribes to all channels, or to none. Returns the error if the user may not; throws any other.
std::string refusal_of_channels(connection& to, const limit& l) {
  command subscribe(4);
  subscribe.add("SUBSCRIBE").add(chooses).add(promotes).add(switches);
  value v = to.ask(subscribe, l);
  if (!v.is(value::kind::error)) return {};
  if (!is_forbidden(v.text)) throw_refusal(v);
  return std::move(v.text);
}

/// The names of all services, from SENTINEL MASTERS: names and values in turn for each.
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

sentinels::sentinels(const settings& s)
    : settings_(s), known_({.first = 0, .primary = primary_tracker(between_questions() + 10s), .moved = {}}) {}

milliseconds sentinels::between_questions() const noexcept { return 1s * static_cast<std::int64_t>(count()); }

/// Every sentinel has an equal share of the time, and the primary has one.
limit sentinels::share_of(const limit& l) const {
  const auto share = settings_.connect_timeout / static_cast<std::int64_t>(count() + 1);
  return limit(std::min(l.at(), later(boot_clock::now(), share)), l.stop());
}

/// Returns the first usable answer.
primary_tracker::announcement sentinels::ask_in_turn(const limit& l) {
  const std::vector<net::endpoint>& all = settings_.sentinels->at;
  const std::size_t first = known_.with([](const known_state& k) { return k.first; });
  std::string tried;
  std::optional<errc> why;
  bool is_late = false;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const std::size_t which = (first + n) % all.size();
    const limit nearer = share_of(l);
    errc code = errc::unreachable;
    tried.append(tried.empty() ? "" : "; ").append(text_of(all[which])).append(": ");
    try {
      const std::unique_ptr<connection> to = greet(all[which], nearer);
      primary_tracker::announcement said = ask(*to, nearer);
      known_.with([&](known_state& k) { k.first = which; });
      return said;
    } catch (const net::broken& e) {
      if (e.for_good()) code = errc::denied;
      is_late = is_late || e.is_late();
      tried += e.what();
    } catch (const malformed& e) {
      tried.append("not the words of a sentinel: ").append(e.what());
    } catch (const storage::failure& e) {
      code = e.code;
      tried += e.text;
    } catch (const std::system_error& e) {  // no descriptor, or no thread
      code = errc::not_ready;
      tried += e.what();
    }
    // The error is permanent only if all of them report it.
    why = !why || *why == code ? code : errc::unreachable;
  }
  storage::failure failed(*why,
                          "no sentinel says where the primary of " + settings_.sentinels->service + " is; " + tried);
  failed.is_late = is_late && failed.code == errc::unreachable;
  throw failed;
}

sentinels::primary sentinels::find(const limit& l) { return record(ask_in_turn(l)); }

std::unique_ptr<connection> sentinels::subscribe(std::size_t which, const limit& l, std::string& refusal) const {
  const limit nearer = share_of(l);
  const net::endpoint& at = settings_.sentinels->at[which];
  std::unique_ptr<connection> to = greet(at, nearer);
  const std::string words = refusal_of_channels(*to, nearer);
  if (!words.empty())
    refusal = "the sentinel " + text_of(at) +
              " refuses its channels, so that failovers are noticed "
              "seconds later: " +
              words + acl_line;
  return to;
}

std::unique_ptr<connection> sentinels::greet(const net::endpoint& at, const limit& l) const {
  const sentinel_settings& them = *settings_.sentinels;
  auto made = std::make_unique<connection>(open_stream(at, settings_.timeout, settings_.tls_context.get(), l), true);
  command hello(them.password.empty() ? 2 : 5);
  hello.add("HELLO").add("3");
  if (!them.password.empty()) hello.add("AUTH").add(them.user.empty() ? "default" : them.user).add(them.password);
  const value v = without_secret(made->ask(hello, l), them.password);
  if (v.is(value::kind::error)) throw_refusal(v);
  return made;
}

/// An epoch begins with its primary. Asked for in this order, the address is never older than the epoch.
command sentinels::question() const { return question_of_service().along_with(question_of_primary()); }

command sentinels::question_of_service() const {
  command c(3);
  c.add("SENTINEL").add("MASTER").add(settings_.sentinels->service);
  return c;
}

/// SENTINEL MASTER has an address too, but at the sentinel that carries out a failover it is the old one until the end.
command sentinels::question_of_primary() const {
  command c(3);
  c.add("SENTINEL").add("GET-MASTER-ADDR-BY-NAME").add(settings_.sentinels->service);
  return c;
}

primary_tracker::announcement sentinels::ask(connection& to, const limit& l) const {
  const value service = to.ask(question_of_service(), l);
  const value at = to.ask(question_of_primary(), l);
  if (at.is(value::kind::error)) throw_refusal(at);
  if (std::optional<net::endpoint> found = endpoint_in(at)) {
    if (service.is(value::kind::error)) throw_refusal(service);
    const std::optional<std::int64_t> epoch = epoch_in(service);
    if (!epoch) throw net::broken(senseless);
    return {std::move(*found), *epoch};
  }
  command all(2);
  all.add("SENTINEL").add("MASTERS");
  const value services = to.ask(all, l);
  const std::string names = names_in(services);
  throw storage::failure(errc::bad_url, "it knows no service " + settings_.sentinels->service +
                                            (names.empty() ? "; SENTINEL MASTERS shows those that it knows"
                                                           : "; those that it knows: " + names));
}

std::vector<sentinel_view> sentinels::views(const limit& l) const {
  const std::vector<net::endpoint>& all = settings_.sentinels->at;
  const auto share = settings_.connect_timeout / static_cast<std::int64_t>(all.size());
  std::vector<sentinel_view> seen;
  for (const net::endpoint& each : all) {
    const limit nearer(std::min(l.at(), later(boot_clock::now(), share)), l.stop());
    sentinel_view& one = seen.emplace_back(sentinel_view{.from = text_of(each)});
    try {
      look(each, one, nearer);
    } catch (const storage::failure& e) {
      one.why = e.text;
    } catch (const std::exception& e) {
      one.why = e.what();
    }
  }
  return seen;
}

void sentinels::look(const net::endpoint& at, sentinel_view& into, const limit& l) const {
  const std::unique_ptr<connection> to = greet(at, l);
  const value v = to->ask(question_of_service(), l);
  if (v.is(value::kind::error)) throw_refusal(v);
  const server_info said = server_info::of_config(v);
  const std::optional<net::endpoint> named = endpoint_of(std::string(said.text("ip")), std::string(said.text("port")));
  if (!named) throw net::broken(senseless);
  into.primary = text_of(*named);
  into.others = said.number("num-other-sentinels").value_or(0);
  into.quorum = said.number("quorum").value_or(0);
  into.deaf = refusal_of_channels(*to, l);
}

std::optional<std::int64_t> sentinels::take_answer(const value& service, const value& at) {
  const std::optional<std::int64_t> epoch = epoch_in(service);
  std::optional<net::endpoint> named = endpoint_in(at);
  if (!epoch || !named) return std::nullopt;
  (void)record({std::move(*named), *epoch});
  return epoch;
}

/// {message, channel, text}. The sentinel that changes the primary sends `slave name host port @ service host port`;
/// all of them send `service host port host port`, with its old address and the new one.
sentinels::sentinel_event sentinels::parse(const value& message) const {
  if (message.items.size() != 3 || message.items[0].text != "message") return {};
  const std::string& channel = message.items[1].text;
  const std::vector<std::string> words = words_of(message.items[2].text);
  const std::size_t name_at = channel == switches ? 0 : 5;
  if (words.size() <= name_at || words[name_at] != settings_.sentinels->service) return {};
  if (channel == chooses) return {.needs_question = false, .chosen = endpoint_of(words[2], words[3])};
  return {.needs_question = true, .chosen = {}};
}

bool sentinels::doubt(const net::endpoint& at) {
  return known_.with([&](known_state& k) { return k.primary.doubt(at); });
}

sentinels::primary sentinels::record(primary_tracker::announcement said) {
  std::optional<std::stop_source> before;
  primary now;
  known_.with([&](known_state& k) {
    const bool moved = k.primary.update(std::move(said), boot_clock::now());
    if (moved) before = std::exchange(k.moved, std::stop_source());
    now = {k.primary.at(), k.moved.get_token()};
  });
  if (before) {
    before->request_stop();
    if (moved_) moved_();
  }
  return now;
}

}  // namespace holdfast::redis
