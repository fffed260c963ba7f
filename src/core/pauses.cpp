#include "core/pauses.hpp"

#include <utility>

namespace holdfast::core {

/// Out of the list before it dies.
class pauses::in_list {
 public:
  in_list(pauses& of, std::uint64_t seen) : of_(of) {
    of_.waiting_.with([&](auto& all) {
      if (of_.cuts_ != seen) return over.set();
      all.push_back(&over);
    });
  }
  in_list(const in_list&) = delete;
  in_list& operator=(const in_list&) = delete;
  ~in_list() {
    of_.waiting_.with([&](auto& all) { std::erase(all, &over); });
  }
  runtime::signal over;

 private:
  pauses& of_;
};

runtime::task<runtime::wake> pauses::pause(runtime::io& i, std::uint64_t seen, limit l) {
  in_list me(*this, seen);
  const runtime::wake why = co_await wait(i, me.over, l);
  co_return why;
}

void pauses::cut_short() noexcept {
  waiting_.with([this](auto& all) {
    ++cuts_;
    for (runtime::signal* const each : all) each->set();
    all.clear();
  });
}

}  // namespace holdfast::core
