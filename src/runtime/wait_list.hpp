#pragma once
#include "runtime/signal.hpp"

namespace holdfast::runtime {

template <class Waiter>
class wait_list;

/// A member of a wait_list, which it has to leave before it is destroyed: remove() says whether it was woken first.
class list_waiter {
 public:
  list_waiter() noexcept = default;
  list_waiter(const list_waiter&) = delete;
  list_waiter& operator=(const list_waiter&) = delete;
  signal woken;

 private:
  template <class Waiter>
  friend class wait_list;
  list_waiter* next_ = nullptr;
  list_waiter* previous_ = nullptr;
  bool listed_ = false;
};

/// A FIFO list of waiters, which are linked through their list_waiter: adding one allocates nothing. It is not
/// synchronised and belongs in a guarded<>. A waiter that is woken is removed first, because it may be destroyed at
/// once.
template <class Waiter = list_waiter>
class wait_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// Null if the list is empty.
  [[nodiscard]] Waiter* first() const noexcept { return static_cast<Waiter*>(first_); }

  void add(Waiter& waiter) noexcept {
    list_waiter& w = waiter;
    w.previous_ = last_;
    w.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &w;
    last_ = &w;
    w.listed_ = true;
  }
  /// Returns false if it is not in the list, because it was woken or never added.
  bool remove(Waiter& waiter) noexcept {
    list_waiter& w = waiter;
    if (!w.listed_) return false;
    (w.previous_ != nullptr ? w.previous_->next_ : first_) = w.next_;
    (w.next_ != nullptr ? w.next_->previous_ : last_) = w.previous_;
    w.listed_ = false;
    return true;
  }
  /// Returns false if the list is empty.
  bool wake_first() noexcept {
    if (first_ == nullptr) return false;
    list_waiter& w = *first_;
    remove(static_cast<Waiter&>(w));
    w.woken.set();
    return true;
  }
  void wake_all() noexcept {
    while (wake_first()) {
    }
  }

 private:
  list_waiter* first_ = nullptr;
  list_waiter* last_ = nullptr;
};

}  // namespace holdfast::runtime
