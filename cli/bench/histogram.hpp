#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace holdfast::cli {

/// Counts durations in buckets that grow with the duration. Uses fixed memory and is accurate to 1/32 (31 ns below 1
/// us). Not thread-safe; may be placed in shared memory.
class histogram {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  void add(nanoseconds) noexcept;  ///< negative durations count as 0
  void add(const histogram&) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] nanoseconds min() const noexcept { return nanoseconds(min_); }  ///< exact; 0 if empty
  [[nodiscard]] nanoseconds max() const noexcept { return nanoseconds(max_); }  ///< exact; 0 if empty
  /// Returns the quantile (0 to 1), or 0 if empty.
  [[nodiscard]] nanoseconds at_share(double share) const noexcept;

  /// The number of durations up to `up_to` and above the row before.
  struct row {
    nanoseconds up_to;
    std::uint64_t count;
  };
  /// One row per doubling, from the first to the last that is not empty: up to 1 us, 2 us, 4 us ...
  [[nodiscard]] std::vector<row> rows() const;

 private:
  // The unit is 1/32 us, which makes the doublings round. Each doubling has 32 buckets, and so has the range below 1
  // us.
  static constexpr std::size_t parts = 32;
  static constexpr std::size_t doublings = 33;  // up to 2^32 us: more than an hour
  [[nodiscard]] static std::size_t bucket_of(std::int64_t nanoseconds) noexcept;
  [[nodiscard]] static std::int64_t end_of(std::size_t bucket) noexcept;  // in nanoseconds, inclusive

  std::array<std::uint64_t, parts * doublings> buckets_{};
  std::uint64_t count_ = 0;
  std::int64_t min_ = 0, max_ = 0;
};

static_assert(std::is_trivially_copyable_v<histogram>);

/// The result of one part.
struct measurement {
  std::string part{};  ///< its name
  std::string what{};  ///< what was measured, for people
  histogram times{};
  std::chrono::duration<double> counted{0};  ///< measured time without the warm-up

  [[nodiscard]] double per_second() const noexcept {
    return counted.count() > 0 ? static_cast<double>(times.count()) / counted.count() : 0;
  }
};

/// The results of a run.
struct bench_report {
  std::string store{};  ///< without its password
  std::chrono::milliseconds time{0};
  unsigned threads = 0;
  std::optional<measurement> raw{};  ///< the cheapest round trip; see raw.hpp
  std::vector<measurement> parts{};
  bool interrupted = false;
};

}  // namespace holdfast::cli
