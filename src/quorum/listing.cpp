// Lists the names that are locked at a majority: one server after the other lists its names, and all servers say who
// holds each of them.
#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "quorum/admin.hpp"
#include "quorum/shared_view.hpp"
#include "storage/claim.hpp"

namespace holdfast::quorum {

using runtime::instant;
using storage::answer;
using storage::failure;
using storage::io;
using storage::task;

/// Where a list continues: `<server>:<servers that were not listed>:<where that server's list continues>`.
struct admin::list_position {
  std::size_t who = 0;
  servers missed = 0;  // servers that did not answer
  std::string there{};

  /// Returns nothing if write() did not produce the text.
  static std::optional<list_position> read(std::string_view text, std::size_t voters) {
    list_position at;
    if (text.empty()) return at;
    const char* const end = text.data() + text.size();
    const auto [first, error] = std::from_chars(text.data(), text.data() + text.size(), at.who);
    if (error != std::errc() || first == end || *first != ':' || at.who >= voters) return std::nullopt;
    const auto [second, wrong] = std::from_chars(first + 1, end, at.missed);
    if (wrong != std::errc() || second == end || *second != ':') return std::nullopt;
    at.there.assign(second + 1, end);
    return at;
  }
  void go_to(const std::string& next) {
    there = next;
    if (next.empty()) ++who;
  }
  void miss() {
    missed |= servers{1} << who;
    go_to({});
  }
  /// Misses the silent servers that have not been listed yet.
  void miss_all(servers silent) { missed |= silent >> who << who; }
  [[nodiscard]] bool is_missed() const { return (missed >> who & 1) != 0; }
  [[nodiscard]] std::size_t how_many_missed() const { return static_cast<std::size_t>(std::popcount(missed)); }
  /// An earlier page has listed that server, at least in part.
  [[nodiscard]] bool has_begun(std::size_t server) const {
    return (server < who || (server == who && !there.empty())) && (missed >> server & 1) == 0;
  }
  /// Returns an empty text after the last page.
  [[nodiscard]] std::string write(std::size_t voters) const {
    if (who >= voters) return {};
    return std::to_string(who) + ":" + std::to_string(missed) + ":" + there;
  }
};

namespace {

template <class T>
task<answer<T>> not_asked() {
  co_return answer<T>::unknown(failure(errc::unreachable, "it gave no answer a moment ago"));
}

bool is_in_use(const state& is) { return is.holding != 0 || is.waiting != 0; }

limit half_of(const io& i, const limit& l) {
  const instant now = i.now();
  return limit(now + (std::max(l.at(), now) - now) / 2, l.stop());
}

}  // namespace

task<answer<listing>> admin::list(io& i, std::string prefix, std::string after, std::size_t most, limit l) {
  io& loop = all_.loop();
  if (i.in_place()) co_return all_.on_loop(list(loop, std::move(prefix), std::move(after), most, std::move(l)));
  std::optional<list_position> from = list_position::read(after, all_.size());
  if (!from) co_return answer<listing>::unknown(failure(errc::bad_option, "no page has said to go on from there"));
  listing page{.names = {}, .next = {}};
  const instant enough = half_of(all_.loop(), l).at();
  answer<servers> silent = co_await silent_servers(l);
  if (silent.is_unknown()) co_return answer<listing>::unknown(std::move(silent.why()));
  from->miss_all(silent.value());
  if (from->how_many_missed() > all_.size() - all_.majority()) {
    co_return answer<listing>::unknown(failure(errc::unreachable, "too many of the servers gave no answer"));
  }
  const list_position earlier = *from;
  while (from->who < all_.size() && page.names.size() < most) {
    if (from->is_missed()) {
      from->go_to({});
      continue;
    }
    const limit some = half_of(all_.loop(), l);
    answer<listing> here = co_await all_[from->who].behind().admin().list(all_.loop(), prefix, from->there, most, some);
    if (here.is_unknown()) {
      const bool too_many = from->how_many_missed() == all_.size() - all_.majority();
      const bool over = too_many || here.why().code == errc::bad_option || all_.loop().now() >= enough;
      if (over) co_return answer<listing>::unknown(std::move(here.why()));
      silent.value() |= servers{1} << from->who;
      from->miss();
      continue;
    }
    std::vector<std::string> names;
    for (listing::entry& each : here.value().names) names.push_back(std::move(each.name));
    std::optional<failure> failed = co_await look_at(std::move(names), from->who, earlier, silent.value(), page, l);
    if (failed) co_return answer<listing>::unknown(std::move(*failed));
    from->go_to(here.value().next);
    if (all_.loop().now() >= enough) break;
  }
  page.next = from->write(all_.size());
  co_return answer<listing>::yes(std::move(page));
}

// Finds the silent servers, so that the later steps do not wait for them. Waits until a majority has answered, and then
// a moment longer for the others.
task<answer<admin::servers>> admin::silent_servers(limit l) {
  const limit each = all_.until(half_of(all_.loop(), l).at());
  const round_ptr<std::string> all =
      all_.ask_all<std::string>([&](std::size_t who) { return all_[who].identity(all_.loop(), each); });
  const limit own(each.at(), l.stop());
  const verdict so = co_await all->settle(all_.loop(), of_step, own);
  if (so != verdict::yes) co_return answer<servers>::unknown(all_.why_not(*all, "no majority of the servers answers"));
  const limit soon(std::min(own.at(), runtime::later(all_.loop().now(), minority_wait)), l.stop());
  const verdict over = co_await all->settle(all_.loop(), all_of_them, soon);
  (void)over;
  servers silent = 0;
  for (std::size_t who = 0; who < all_.size(); ++who) {
    const std::optional<answer<std::string>>& got = all->replies()[who];
    if (!got || !got->is_yes()) silent |= servers{1} << who;
  }
  co_return answer<servers>::yes(silent);
}

task<std::optional<failure>> admin::look_at(std::vector<std::string> names, std::size_t listed_by,
                                            const list_position& earlier, servers silent, listing& page, limit l) {
  const limit each = all_.until(half_of(all_.loop(), l).at());
  std::vector<round_ptr<state>> looks;
  looks.reserve(names.size());
  for (const std::string& name : names) {
    looks.push_back(all_.ask_all<state>([&](std::size_t who) {
      const bool asked = (silent >> who & 1) == 0;
      return asked ? all_[who].behind().admin().inspect(all_.loop(), name, each) : not_asked<state>();
    }));
  }
  const limit own(each.at(), l.stop());
  for (std::size_t n = 0; n < names.size(); ++n) {
    const verdict over = co_await looks[n]->settle(all_.loop(), all_of_them, own);
    (void)over;  // servers that have not answered by now do not count
    if (looks[n]->count().yes < all_.majority()) {
      co_return all_.why_not(*looks[n], "no majority of the servers answers");
    }
    std::vector<const state*> seen;
    // A server that this call has listed may have got the name only afterwards: then it was not shown.
    bool shown = std::ranges::find(page.names, names[n], &listing::entry::name) != page.names.end();
    for (std::size_t who = 0; who < all_.size(); ++who) {
      std::optional<answer<state>>& got = looks[n]->replies()[who];
      if (!got || !got->is_yes()) continue;
      seen.push_back(&got->value());
      shown = shown || (who != listed_by && earlier.has_begun(who) && is_in_use(got->value()));
    }
    state is = shared_view(seen, all_.majority());
    is.waiters.clear();
    if (!shown && is_in_use(is)) page.names.push_back({std::move(names[n]), std::move(is)});
  }
  co_return std::nullopt;
}

}  // namespace holdfast::quorum
