// An observer receives events for metrics and logs. The library itself never prints.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <map>
#include <memory>

using kind = holdfast::event::kind;

// [observer]
class meter final : public holdfast::observer {
 public:
  void on(const holdfast::event& e) noexcept override {  // one call at a time, on the executor
    ++seen[e.what];
    if (e.what == kind::lost) std::cerr << e.name << " was lost: " << e.text << '\n';
  }
  std::map<kind, int> seen;
};
// [/observer]

int main() {
  const auto events = std::make_shared<meter>();
  {
    // [open]
    holdfast::store store = holdfast::open("memory:", {.observe = events});
    // [/open]
    holdfast::lease first = store.acquire("job/9");
    const bool busy = !store.try_acquire("job/9", holdfast::within(std::chrono::milliseconds(5)));
    std::cout << (busy ? "busy\n" : "free\n");
  }  // the last handle is destroyed here, after all events
  const std::map<kind, int> expected{{kind::acquired, 1}, {kind::waiting, 1}, {kind::left, 1}, {kind::released, 1}};
  return events->seen == expected ? 0 : 1;
}
