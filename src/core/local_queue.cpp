#include "core/local_queue.hpp"

namespace holdfast::core {

local_queue::position local_queue::enter(const std::string& name, waiter& w, bool may_wait) {
  return entries_.with([&](auto& entries) {
    const auto [at, is_new] = entries.try_emplace(name);
    entry& e = at->second;
    w.progress_ = &e.progress;
    w.seen_ = w.progress_->answers - (w.progress_->answered ? 1 : 0);
    if (is_new) return position::head;
    if (!may_wait) return position::busy;
    e.waiters.add(w);
    return position::waiting;
  });
}

bool local_queue::leave(const std::string& name, waiter& w) noexcept {
  return entries_.with([&](auto& entries) {
    const auto at = entries.find(name);
    return at != entries.end() && at->second.waiters.remove(w);
  });
}

void local_queue::wake_next(const std::string& name) noexcept {
  entries_.with([&](auto& entries) {
    const auto at = entries.find(name);
    entry& e = at->second;
    e.failure.reset();  // the next head finds out by itself
    e.progress.answered = false;
    if (!e.waiters.wake_first()) entries.erase(at);
  });
}

bool local_queue::hand_over(const std::shared_ptr<holding>& what, instant now,
                            const std::function<void()>& before_wake) {
  return entries_.with([&](auto& entries) {
    const auto at = entries.find(what->name);
    if (at == entries.end()) return false;  // the holding was lost in this instant, and its entry has gone
    entry& e = at->second;
    waiter* const first = e.waiters.first();
    if (first == nullptr || !what->on.pass_on_to(first->wants)) return false;
    first->given = holding::new_lease(what, now);
    if (!first->given) return false;
    if (before_wake) before_wake();
    return e.waiters.wake_first();
  });
}

void local_queue::set_failure(const std::string& name, const storage::failure& why) {
  entries_.with([&](auto& entries) { entries.find(name)->second.failure = std::make_unique<storage::failure>(why); });
}

void local_queue::recovered(const std::string& name) noexcept {
  entries_.with([&](auto& entries) { entries.find(name)->second.failure.reset(); });
}

std::optional<storage::failure> local_queue::failure_at(const std::string& name, const waiter* waited) const {
  return entries_.with([&](const auto& entries) -> std::optional<storage::failure> {
    const auto at = entries.find(name);
    if (at == entries.end()) return std::nullopt;
    const entry& e = at->second;
    if (e.failure) return *e.failure;
    if (waited == nullptr || e.progress.answers != waited->seen_) return std::nullopt;
    return storage::failure::late("no answer yet");
  });
}

void local_queue::fail_waiters(const std::string& name, const storage::failure& why) {
  entries_.with([&](auto& entries) {
    entry& e = entries.find(name)->second;
    for (waiter* w = e.waiters.first(); w != nullptr; w = e.waiters.first()) {
      w->failed = why;
      e.waiters.wake_first();
    }
  });
}

std::size_t local_queue::size() const noexcept {
  return entries_.with([](const auto& entries) { return entries.size(); });
}

}  // namespace holdfast::core
