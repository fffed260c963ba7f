#include "core/report.hpp"

#include <optional>
#include <utility>

namespace holdfast::core {

reporter::reporter(std::shared_ptr<observer> to) {
  if (!to) return;
  shared_ = std::make_shared<shared>();
  shared_->to = std::move(to);
}

void reporter::tell(runtime::executor& where, const event& e) const noexcept {
  if (shared_ && note(e)) deliver(where);
}

void reporter::deliver(runtime::executor& where) const noexcept {
  if (where.post([mine = shared_] { mine->drain(); })) return;
  shared_->waiting.with([](queue& q) {  // refused: no thread will drain the queue, so what waits is lost
    q.events.clear();
    q.draining = false;
  });
}

void reporter::tell_here(const event& e) const noexcept {
  if (shared_ && note(e)) shared_->drain();
}

bool reporter::note(const event& e) const noexcept {
  try {
    return shared_->waiting.with([&](queue& q) {
      q.events.push_back({e, std::string(e.name), std::string(e.text)});
      return !std::exchange(q.draining, true);
    });
  } catch (...) {  // no memory: dropping an event is better than dropping a lock
    return false;
  }
}

void reporter::shared::drain() noexcept {
  for (;;) {
    std::optional<copy> next = waiting.with([](queue& q) -> std::optional<copy> {
      q.draining = !q.events.empty();
      if (!q.draining) return std::nullopt;
      std::optional<copy> first(std::move(q.events.front()));
      q.events.pop_front();
      return first;
    });
    if (!next) return;
    next->what.name = next->name;
    next->what.text = next->text;
    to->on(next->what);
  }
}

}  // namespace holdfast::core
