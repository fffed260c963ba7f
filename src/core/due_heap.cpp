#include "core/due_heap.hpp"

#include <utility>

namespace holdfast::core {

void due_heap::add(std::shared_ptr<holding> what, instant at) {
  holding& h = *what;
  entries_.push_back({at, std::move(what)});
  h.place = entries_.size() - 1;
  sift(h.place);
}

void due_heap::move(holding& what, instant at) noexcept {
  if (what.place == holding::nowhere) return;
  entries_[what.place].at = at;
  sift(what.place);
}

void due_heap::remove(holding& what) noexcept {
  if (what.place == holding::nowhere) return;
  const std::size_t place = std::exchange(what.place, holding::nowhere);
  entry last = std::move(entries_.back());
  entries_.pop_back();
  if (place == entries_.size()) return;  // it was the last; `last` destroys it
  const entry gone = std::exchange(entries_[place], std::move(last));
  entries_[place].what->place = place;
  sift(place);
}

void due_heap::put(std::size_t place, entry&& e) noexcept {
  e.what->place = place;
  entries_[place] = std::move(e);
}

void due_heap::sift(std::size_t place) noexcept {
  entry moving = std::move(entries_[place]);
  while (place > 0 && moving.at < entries_[(place - 1) / 2].at) {
    const std::size_t parent = (place - 1) / 2;
    put(place, std::move(entries_[parent]));
    place = parent;
  }
  put(place, std::move(moving));
  sink(place);
}

void due_heap::sink(std::size_t place) noexcept {
  entry moving = std::move(entries_[place]);
  for (std::size_t child = 2 * place + 1; child < entries_.size(); child = 2 * place + 1) {
    if (child + 1 < entries_.size() && entries_[child + 1].at < entries_[child].at) ++child;
    if (moving.at <= entries_[child].at) break;
    put(place, std::move(entries_[child]));
    place = child;
  }
  put(place, std::move(moving));
}

}  // namespace holdfast::core
