#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace holdfast::sim {

using real = std::chrono::nanoseconds;  ///< true time since the world began; the simulated clients cannot read it

/// One thread, virtual time, one seed. Everything that happens is an event here, and its order and content are hashed,
/// so that two runs of a seed can be compared.
class world {
 public:
  explicit world(std::uint64_t seed) : choices_(seed), hash_(seed) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  [[nodiscard]] real now() const noexcept { return now_; }
  void at(real when, std::function<void()> what);
  void in(real delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }
  /// Runs the next event. Returns false if there is none.
  bool step();
  std::function<void()> after_each = [] {};

  [[nodiscard]] std::uint64_t random() { return choices_(); }
  [[nodiscard]] std::uint64_t below(std::uint64_t n) { return choices_() % n; }
  [[nodiscard]] bool chance(double p) { return static_cast<double>(choices_() >> 11) * 0x1p-53 < p; }
  [[nodiscard]] real between(real low, real high);

  /// Part of the hash; printed when tracing.
  void note(const char* what, std::uint64_t a = 0, std::uint64_t b = 0);
  void tell(const std::string& what) const;  ///< printed when tracing, and not part of the hash
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  bool trace = false;

  /// The first violation; empty if there is none.
  void violate(const std::string& what);
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

 private:
  real now_{0};
  std::uint64_t events_ = 0;
  std::map<std::pair<real, std::uint64_t>, std::function<void()>> future_;
  std::uint64_t sequence_ = 0;
  std::mt19937_64 choices_;
  std::uint64_t hash_;
  std::string violation_;
};

}  // namespace holdfast::sim
