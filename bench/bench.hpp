#pragma once
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace bench {

/// One row of the table: what was measured, and the bound that it must meet, if any.
struct figure {
  std::string what;
  double value;
  std::string unit;
  std::string bar{};  ///< "at most 1000"
  bool reached = true;
};

using seconds = std::chrono::duration<double>;

[[nodiscard]] inline seconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

[[nodiscard]] inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

/// Returns the quantile of the values.
[[nodiscard]] inline double at_share(std::vector<double> v, double share) {
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, static_cast<std::size_t>(share * static_cast<double>(v.size())))];
}

[[nodiscard]] inline double microseconds_now() { return 1e6 * now().count(); }

/// Keeps a core busy.
inline void work(double microseconds) {
  for (const double began = microseconds_now(); microseconds_now() - began < microseconds;) {
  }
}

/// Returns the nanoseconds per call of f, measured for about `length`.
template <class F>
[[nodiscard]] double nanoseconds_each(F f, seconds length = std::chrono::milliseconds(50)) {
  std::size_t n = 0;
  const seconds began = now(), end = began + length;
  do {
    for (int k = 0; k < 100; ++k) f();
    n += 100;
  } while (now() < end);
  return 1e9 * (now() - began).count() / static_cast<double>(n);
}

void uncontended(std::vector<figure>&);
void hand_over(std::vector<figure>&);
void many_leases(std::vector<figure>&);
void directory(std::vector<figure>&);
void redis(std::vector<figure>&);
void redis_cluster_leases(std::vector<figure>&);
void redis_coroutines(std::vector<figure>&);
void redis_failover(std::vector<figure>&);
void redis_hand_off(std::vector<figure>&);
void redis_leases(std::vector<figure>&);
void redis_shares(std::vector<figure>&);
void redis_unfair(std::vector<figure>&);
void redlock(std::vector<figure>&);
/// The cost of our layers without a store. It uses internal headers, so it is in tests/cost.
void layers(std::vector<figure>&);

}  // namespace bench
