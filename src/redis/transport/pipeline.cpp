#include "redis/transport/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "seeded_bugs.hpp"

namespace holdfast::redis {

void pending_reply::add(value v) {
  if (wanted_ == 1) {
    got = std::move(v);
    return;
  }
  all_.what = value::kind::list;
  all_.items.push_back(std::move(v));
  if (all_.items.size() == wanted_) got = std::move(all_);
}

void pipeline::add(const command& what, pending_reply* waiter) {
  due_.push_back({waiter, what.replies()});
  try {
    unsent_bytes_.append(what.bytes());
  } catch (const std::bad_alloc&) {
    due_.pop_back();
    throw;
  }
  ++unsent_;
}

void pipeline::take_unsent(std::string& bytes) {
  if (bytes.empty()) {
    bytes.swap(unsent_bytes_);
  } else {
    bytes.append(unsent_bytes_);
    unsent_bytes_.clear();
  }
  unsent_ = 0;
}

void pipeline::drop_unsent() noexcept {
  due_.erase(due_.end() - static_cast<std::ptrdiff_t>(unsent_), due_.end());
  unsent_bytes_.clear();
  unsent_ = 0;
}

pending_reply* pipeline::take(value v) {
  if (due_.empty()) throw malformed("a reply that no command asked for");
  entry& first = due_.front();
  pending_reply* const waiter = first.waiter;
  if (waiter != nullptr && first.replies <= waiter->wanted_) waiter->add(std::move(v));
  if (--first.replies != 0) return nullptr;
  due_.pop_front();
  return waiter;
}

void pipeline::abandon(const pending_reply& waiter) noexcept {
  const auto at = std::ranges::find(due_, &waiter, &entry::waiter);
  if (at == due_.end()) return;
  if (seeded(bug::late_reply_to_another)) {
    due_.erase(at);
  } else {
    at->waiter = nullptr;
  }
}

pending_reply* pipeline::first_waiter() const noexcept {
  const auto at = std::ranges::find_if(due_, [](const entry& e) { return e.waiter != nullptr; });
  return at == due_.end() ? nullptr : at->waiter;
}

void pipeline::drop_abandoned() noexcept {
  while (starts_abandoned() && due_.size() > unsent_) due_.pop_front();
}

void pipeline::clear() noexcept {
  due_.clear();
  unsent_bytes_.clear();
  unsent_ = 0;
}

}  // namespace holdfast::redis
