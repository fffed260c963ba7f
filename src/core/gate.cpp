#include "core/gate.hpp"

namespace holdfast::core {

void gate::room::add(visitor& v) noexcept {
  v.previous_ = last;
  v.next_ = nullptr;
  (last != nullptr ? last->next_ : first) = &v;
  last = &v;
}

void gate::room::remove(visitor& v) noexcept {
  (v.previous_ != nullptr ? v.previous_->next_ : first) = v.next_;
  (v.next_ != nullptr ? v.next_->previous_ : last) = v.previous_;
  v.previous_ = v.next_ = nullptr;
}

void gate::room::summon(visitor& v) noexcept {
  remove(v);
  v.called.set();
}

gate::entry gate::enter(const std::string& name, visitor& v, bool may_wait) {
  return rooms_.with([&](auto& rooms) {
    const auto [at, is_new] = rooms.try_emplace(name);
    v.progress_ = &at->second.progress;
    v.seen_ = v.progress_->answers - (v.progress_->answered ? 1 : 0);
    if (is_new) return entry::head;
    if (!may_wait) return entry::busy;
    at->second.add(v);
    return entry::waiting;
  });
}

bool gate::leave(const std::string& name, visitor& v) noexcept {
  return rooms_.with([&](auto& rooms) {
    const auto at = rooms.find(name);
    if (at == rooms.end()) return false;
    room& r = at->second;
    if (v.previous_ == nullptr && r.first != &v) return false;  // called, or told
    r.remove(v);
    return true;
  });
}

void gate::next(const std::string& name) noexcept {
  rooms_.with([&](auto& rooms) {
    const auto at = rooms.find(name);
    room& r = at->second;
    if (r.first == nullptr) {
      rooms.erase(at);
      return;
    }
    r.trouble.reset();  // the next one sees for itself
    r.progress.answered = false;
    r.summon(*r.first);
  });
}

bool gate::pass(const std::shared_ptr<hold>& what, instant now, const std::function<void()>& passed) {
  return rooms_.with([&](auto& rooms) {
    const auto at = rooms.find(what->name);
    if (at == rooms.end()) return false;  // the hold was lost in this instant, and the room closed
    room& r = at->second;
    if (r.first == nullptr || !what->on.pass_on_to(r.first->wants)) return false;
    visitor& v = *r.first;
    v.given = hold::seat(what, now);
    if (!v.given) return false;
    if (passed) passed();
    r.summon(v);
    return true;
  });
}

void gate::trouble(const std::string& name, const storage::failure& f) {
  rooms_.with([&](auto& rooms) { rooms.find(name)->second.trouble = std::make_unique<storage::failure>(f); });
}

void gate::calm(const std::string& name) noexcept {
  rooms_.with([&](auto& rooms) { rooms.find(name)->second.trouble.reset(); });
}

std::optional<storage::failure> gate::trouble_at(const std::string& name) const {
  return rooms_.with([&](const auto& rooms) -> std::optional<storage::failure> {
    const auto at = rooms.find(name);
    if (at == rooms.end() || !at->second.trouble) return std::nullopt;
    return *at->second.trouble;
  });
}

std::optional<storage::failure> gate::trouble_at(const std::string& name, const visitor& v) const {
  return rooms_.with([&](const auto& rooms) -> std::optional<storage::failure> {
    const auto at = rooms.find(name);
    if (at == rooms.end()) return std::nullopt;
    if (at->second.trouble) return *at->second.trouble;
    if (at->second.progress.answers != v.seen_) return std::nullopt;
    return storage::failure::late("no answer yet");
  });
}

void gate::fail(const std::string& name, const storage::failure& f) {
  rooms_.with([&](auto& rooms) {
    room& r = rooms.find(name)->second;
    while (r.first != nullptr) {
      visitor& v = *r.first;
      v.failed = f;
      r.summon(v);
    }
  });
}

std::size_t gate::rooms() const noexcept {
  return rooms_.with([](const auto& rooms) { return rooms.size(); });
}

}  // namespace holdfast::core
