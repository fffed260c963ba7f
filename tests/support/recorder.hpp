#pragma once
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "holdfast/observer.hpp"
#include "support/bounds.hpp"

namespace holdfast::test {

/// An observer that records its events, for which tests can wait.
class recorder final : public observer {
 public:
  using kind = event::kind;
  struct entry {
    kind what;
    std::string name;
    std::uint64_t fence;
    std::chrono::nanoseconds took;
    std::error_code why;
    std::string text;
  };

  void on(const event& e) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      events_.push_back({e.what, std::string(e.name), e.fence, e.took, e.why, std::string(e.text)});
    }
    changed_.notify_all();
  }

  [[nodiscard]] std::vector<entry> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  [[nodiscard]] std::vector<entry> events(kind what) const {
    std::vector<entry> those = events();
    std::erase_if(those, [&](const entry& e) { return e.what != what; });
    return those;
  }
  [[nodiscard]] std::vector<kind> kinds() const {
    std::vector<kind> those;
    for (const entry& e : events()) those.push_back(e.what);
    return those;
  }

  /// Returns true once n events of this kind have arrived, false if that hangs.
  [[nodiscard]] bool comes(kind what, std::size_t n = 1) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hang, [&] {
      return std::count_if(events_.begin(), events_.end(), [&](const entry& e) { return e.what == what; }) >=
             static_cast<std::ptrdiff_t>(n);
    });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<entry> events_;
};

}  // namespace holdfast::test
