#include <algorithm>
#include <utility>

#include "core/cut.hpp"
#include "core/engine.hpp"
#include "core/insist.hpp"

namespace holdfast::core {

namespace {

/// So many requests wait for a hold that we do not know yet; those that never find it make room for later ones.
constexpr std::size_t most_early = 64;

constexpr std::size_t names_on_a_page = 100;

/// A part of a hold has a fence of its own, which is not that of the tenancy: whether it is meant is seen to here.
bool means_it(const hold& h, storage::revoke_request& what) {
  if (what.owner == h.owner) return true;
  const bool meant = what.fence == 0 || what.fence == h.claim->fence_of(what.owner);
  what.fence = 0;
  return meant;
}

storage::failure closing() { return storage::failure(errc::closed, ""); }

}  // namespace

template <class T, class Ask>
task<storage::answer<T>> engine::ask_while_open(io& i, limit l, Ask ask) {
  if (closing_.stop_requested()) co_return storage::answer<T>::unknown(closing());
  const cut until(l, closing_.get_token());
  storage::answer<T> answer = co_await insist<T>(i, until.get(), settings_.patience, ask);
  silence_.hear(answer, i.now());
  if (answer.is_unknown() && closing_.stop_requested()) co_return storage::answer<T>::unknown(closing());
  co_return answer;
}

task<storage::answer<state>> engine::inspect(io& i, std::string name, limit l) {
  const auto look = [&](const limit& one) { return backend_.admin().inspect(i, name, one); };
  storage::answer<state> answer = co_await ask_while_open<state>(i, l, look);
  co_return answer;
}

task<storage::answer<listing>> engine::list(io& i, std::string prefix, std::string after, limit l) {
  const auto look = [&](const limit& one) { return backend_.admin().list(i, prefix, after, names_on_a_page, one); };
  storage::answer<listing> answer = co_await ask_while_open<listing>(i, l, look);
  co_return answer;
}

task<storage::answer<std::vector<finding>>> engine::examine(io& i, limit l) {
  const auto look = [&](const limit& one) { return backend_.admin().examine(i, one); };
  storage::answer<std::vector<finding>> found = co_await ask_while_open<std::vector<finding>>(i, l, look);
  co_return found;
}

task<storage::answer<storage::done>> engine::revoke(io& i, std::string name, std::string reason, std::uint64_t fence,
                                                    limit l) {
  const auto ask = [&](const limit& one) { return backend_.admin().revoke(i, name, reason, fence, one); };
  storage::answer<storage::done> answer = co_await ask_while_open<storage::done>(i, l, ask);
  co_return answer;
}

task<storage::answer<storage::done>> engine::break_lock(io& i, storage::break_request what, limit l) {
  what.id = storage::owner_id::of(i.random(), i.random());
  const auto take = [&](const limit& one) { return backend_.admin().break_lock(i, what, one); };
  storage::answer<storage::done> answer = co_await ask_while_open<storage::done>(i, l, take);
  co_return answer;
}

/// From any thread, whatever locks it has: the keeper takes care of it.
void engine::revoke_requested(storage::revoke_request what) noexcept {
  try {
    schedule_.with([&](schedule& s) { s.asked.push_back(std::move(what)); });
  } catch (const std::bad_alloc&) {  // the store tells us again, or whoever asks does
    return;
  }
  kick_.set();
}

/// Tells the holders who were asked, on the loop. It is rare, so they are searched for.
void engine::hear() {
  std::vector<std::pair<std::shared_ptr<hold>, storage::revoke_request>> found;
  schedule_.with([&](schedule& s) {
    if (s.asked.empty()) return;
    found.reserve(s.asked.size());  // if there is no memory, nothing is forgotten
    std::vector<storage::revoke_request> all = std::exchange(s.asked, {});
    const auto by_owner = [](const storage::revoke_request& one, const storage::revoke_request& other) {
      return one.owner < other.owner;
    };
    std::sort(all.begin(), all.end(), by_owner);
    s.holds.for_each([&](const std::shared_ptr<hold>& h) {
      const auto [first, last] =
          std::equal_range(all.begin(), all.end(), storage::revoke_request{.owner = h->owner}, by_owner);
      for (auto each = first; each != last; ++each) found.emplace_back(h, std::move(*each));
      all.erase(first, last);
    });
    // One of several names that are held as one.
    s.holds.for_each([&](const std::shared_ptr<hold>& h) {
      std::erase_if(all, [&](storage::revoke_request& each) {
        const bool ours = h->claim->fence_of(each.owner) != 0;
        if (ours && means_it(*h, each)) found.emplace_back(h, std::move(each));
        return ours;
      });
    });
    for (storage::revoke_request& unknown : all) s.early.push_back(std::move(unknown));
    while (s.early.size() > most_early) s.early.pop_front();
  });
  for (const auto& [who, what] : found) hear_of(*who, what);
}

/// What somebody asked of it before it was known here; under the lock of the schedule.
std::optional<storage::revoke_request> engine::schedule::early_for(const hold& h) {
  for (;;) {
    const auto at = std::find_if(early.begin(), early.end(), [&](const auto& each) {
      return each.owner == h.owner || h.claim->fence_of(each.owner) != 0;
    });
    if (at == early.end()) return std::nullopt;
    storage::revoke_request what = std::move(*at);
    early.erase(at);
    if (means_it(h, what)) return what;
  }
}

/// That something was taken is not believed at once: a renewal says it, and draws the consequences.
void engine::hear_of(hold& h, const storage::revoke_request& what) {
  if (what.broken) return care_at(h, loop_.now());
  ask_to_let_go(h, what);
}

void engine::ask_to_let_go(hold& h, const storage::revoke_request& what) {
  const std::shared_ptr<tenancy> tenant = h.ask(what);
  if (!tenant || tenant->state() != tenancy::phase::held) return;
  report_.tell(user_, {.what = event::kind::revoke_requested,
                       .name = h.name,
                       .fence = tenant->fence(),
                       .took = loop_.now() - tenant->began(),
                       .text = what.reason});
  std::optional<std::stop_source> source = tenant->mark_asked();
  if (source) user_.post([s = std::move(*source)]() mutable { s.request_stop(); });
}

}  // namespace holdfast::core
