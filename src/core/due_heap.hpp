#pragma once
#include <memory>
#include <vector>

#include "core/hold.hpp"

namespace holdfast::core {

/// Holds by the date of their next care, earliest first. Each knows its place, so that a release takes it out at once:
/// nothing of a released hold stays behind until its date. Not synchronised.
class due_heap {
 public:
  void add(std::shared_ptr<hold>, instant at);
  void move(hold&, instant at) noexcept;  ///< no effect if it is not here
  void remove(hold&) noexcept;            ///< no effect if it is not here
  /// All of those to one date.
  template <class Which>
  void move_if(Which&& which, instant at) noexcept {
    for (entry& e : entries_) {
      if (which(*e.what)) e.at = at;
    }
    for (std::size_t place = entries_.size() / 2; place-- > 0;) sink(place);
  }
  [[nodiscard]] instant first() const noexcept { return entries_.empty() ? runtime::never : entries_.front().at; }
  [[nodiscard]] const std::shared_ptr<hold>& top() const noexcept { return entries_.front().what; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  template <class F>
  void for_each(F&& f) const {
    for (const entry& e : entries_) f(e.what);
  }

 private:
  struct entry {
    instant at;
    std::shared_ptr<hold> what;
  };
  void put(std::size_t place, entry&&) noexcept;
  void sift(std::size_t place) noexcept;  ///< to where it belongs
  void sink(std::size_t place) noexcept;  ///< the same, if that is not above
  std::vector<entry> entries_;
};

}  // namespace holdfast::core
