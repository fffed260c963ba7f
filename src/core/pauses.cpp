#include "core/pauses.hpp"

#include <utility>

namespace holdfast::core {

/// Out of the list before it dies.
class pauses::in_list {
 public:
  in_list(pauses& of, std::uint64_t seen) : of_(of) {
    of_.state_.with([&](state& s) {
      if (s.cuts != seen) return over.set();
      s.waiting.push_back(&over);
    });
  }
  in_list(const in_list&) = delete;
  in_list& operator=(const in_list&) = delete;
  ~in_list() {
    of_.state_.with([&](state& s) { std::erase(s.waiting, &over); });
  }
  runtime::signal over;

 private:
  pauses& of_;
};

std::uint64_t pauses::cuts() const noexcept {
  return state_.with([](const state& s) { return s.cuts; });
}

runtime::task<runtime::wake> pauses::pause(runtime::io& i, std::uint64_t seen, limit l) {
  in_list me(*this, seen);
  const runtime::wake why = co_await wait(i, me.over, l);
  co_return why;
}

void pauses::cut_short() noexcept {
  state_.with([](state& s) {
    ++s.cuts;
    for (runtime::signal* const each : s.waiting) each->set();
    s.waiting.clear();
  });
}

}  // namespace holdfast::core
