#pragma once
#include <memory>
#include <vector>

#include "core/holding.hpp"

namespace holdfast::core {

/// Holdings by the time when they are due, earliest first. Each knows its place, so that a release removes it at once.
/// Not thread-safe.
class due_heap {
 public:
  void add(std::shared_ptr<holding>, instant at);
  void move(holding&, instant at) noexcept;  ///< no effect if it is not here
  void remove(holding&) noexcept;            ///< no effect if it is not here
  /// Makes all of those due at one time.
  template <class Which>
  void move_if(Which&& which, instant at) noexcept {
    for (entry& e : entries_) {
      if (which(*e.what)) e.at = at;
    }
    for (std::size_t place = entries_.size() / 2; place-- > 0;) sink(place);
  }
  [[nodiscard]] instant first() const noexcept { return entries_.empty() ? runtime::never : entries_.front().at; }
  [[nodiscard]] const std::shared_ptr<holding>& top() const noexcept { return entries_.front().what; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  template <class F>
  void for_each(F&& f) const {
    for (const entry& e : entries_) f(e.what);
  }

 private:
  struct entry {
    instant at;
    std::shared_ptr<holding> what;
  };
  void put(std::size_t place, entry&&) noexcept;
  void sift(std::size_t place) noexcept;  ///< moves it to where it belongs
  void sink(std::size_t place) noexcept;  ///< same as above, if that is not further up
  std::vector<entry> entries_;
};

}  // namespace holdfast::core
