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

/// How long something took, many times. It counts in buckets that grow with the time: the memory is fixed, and what it
/// tells is right to a thirty-second of itself (below 1 us, to 31 ns). Not thread-safe; may lie in shared memory.
class histogram {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  void add(nanoseconds) noexcept;  ///< less than nothing counts as nothing
  void add(const histogram&) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] nanoseconds min() const noexcept { return nanoseconds(min_); }  ///< exact; 0 when there is none
  [[nodiscard]] nanoseconds max() const noexcept { return nanoseconds(max_); }  ///< exact; 0 when there is none
  /// So great a share of them (0 to 1) took at most so long; 0 when there is none.
  [[nodiscard]] nanoseconds at_share(double share) const noexcept;

  /// How many took at most so long, and longer than the row before says.
  struct row {
    nanoseconds up_to;
    std::uint64_t count;
  };
  /// By doublings, from the first that has any to the last: up to 1 us, 2 us, 4 us ...
  [[nodiscard]] std::vector<row> rows() const;

 private:
  // The unit is 1/32 us, so that the doublings are round figures. Each has 32 buckets; so has what is below 1 us.
  static constexpr std::size_t parts = 32;
  static constexpr std::size_t doublings = 33;  // up to 2^32 us: more than an hour
  [[nodiscard]] static std::size_t bucket_of(std::int64_t nanoseconds) noexcept;
  [[nodiscard]] static std::int64_t end_of(std::size_t bucket) noexcept;  // in nanoseconds, the last that counts there

  std::array<std::uint64_t, parts * doublings> buckets_{};
  std::uint64_t count_ = 0;
  std::int64_t min_ = 0, max_ = 0;
};

static_assert(std::is_trivially_copyable_v<histogram>);

/// What was seen of one part.
struct measurement {
  std::string part{};  ///< its name
  std::string what{};  ///< what was timed, in words
  histogram times{};
  std::chrono::duration<double> counted{0};  ///< how long it was measured, without the warm-up

  [[nodiscard]] double per_second() const noexcept {
    return counted.count() > 0 ? static_cast<double>(times.count()) / counted.count() : 0;
  }
};

/// All that a run has seen.
struct bench_report {
  std::string store{};  ///< without its password
  std::chrono::milliseconds time{0};
  unsigned threads = 0;
  std::optional<measurement> raw{};  ///< the cheapest round trip: see raw.hpp
  std::vector<measurement> parts{};
  bool interrupted = false;
};

}  // namespace holdfast::cli
