#include "bench/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace holdfast::cli {

std::size_t histogram::bucket_of(std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t longest = std::int64_t{1} << 52;  // avoids overflow; it falls into the last bucket anyway
  // Rounded up: a bucket's end is inclusive.
  const auto units = static_cast<std::uint64_t>((std::min(nanoseconds, longest) * 32 + 999) / 1'000);
  const std::uint64_t place = units == 0 ? 0 : units - 1;
  if (place < parts) return static_cast<std::size_t>(place);
  const auto doubling = static_cast<std::size_t>(std::bit_width(place)) - 5;  // 1: from 1 us to 2 us
  const auto within = static_cast<std::size_t>(place >> (doubling - 1)) % parts;
  return std::min(doubling * parts + within, parts * doublings - 1);
}

std::int64_t histogram::end_of(std::size_t bucket) noexcept {
  const std::size_t doubling = bucket / parts, within = bucket % parts;
  const std::size_t units = doubling == 0 ? within + 1 : (parts + within + 1) << (doubling - 1);
  return static_cast<std::int64_t>(units) * 1'000 / 32;
}

void histogram::add(nanoseconds time) noexcept {
  const std::int64_t t = std::max<std::int64_t>(time.count(), 0);
  min_ = count_ == 0 ? t : std::min(min_, t);
  max_ = std::max(max_, t);
  ++buckets_[bucket_of(t)];
  ++count_;
}

void histogram::add(const histogram& other) noexcept {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  for (std::size_t n = 0; n < buckets_.size(); ++n) buckets_[n] += other.buckets_[n];
}

histogram::nanoseconds histogram::at_share(double share) const noexcept {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_)));
  std::uint64_t so_far = 0;
  for (std::size_t n = 0; n < buckets_.size(); ++n) {
    so_far += buckets_[n];
    const bool open_end = n + 1 == buckets_.size();
    if (so_far >= wanted && so_far > 0) return nanoseconds(open_end ? max_ : std::clamp(end_of(n), min_, max_));
  }
  return nanoseconds(max_);
}

std::vector<histogram::row> histogram::rows() const {
  std::vector<row> all;
  for (std::size_t d = 0; d < doublings; ++d) {
    const auto begin = buckets_.begin() + static_cast<std::ptrdiff_t>(d * parts);
    std::uint64_t here = 0;
    for (auto at = begin; at != begin + parts; ++at) here += *at;
    if (here > 0 || !all.empty()) all.push_back({nanoseconds(end_of((d + 1) * parts - 1)), here});
  }
  while (!all.empty() && all.back().count == 0) all.pop_back();
  return all;
}

}  // namespace holdfast::cli
