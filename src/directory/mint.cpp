#include "directory/mint.hpp"

#include <algorithm>
#include <chrono>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

constexpr std::int64_t reserve_ahead =
    10'000'000;  // fences, or microseconds: a durable write every ten seconds at most

std::int64_t wall_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

mint::mint(const folder& in, const database& kept)
    : folder_(in),
      reserve_(in),
      look_(kept.get(), "SELECT last, reserved FROM mint"),
      note_(kept.get(), "UPDATE mint SET last = ?, reserved = ?") {}

std::uint64_t mint::next(std::uint64_t how_many) {
  struct row {
    std::int64_t last, reserved;
  };
  std::optional<row> used = look_.row<row>();
  if (!used) {  // fences may have been used that we know nothing of
    throw storage::failure(errc::foreign,
                           folder_.file("locks.db") +
                               " does not say which fences were used; it is damaged, so move it away when "
                               "no lock is held");
  }
  const std::int64_t first = std::max(used->last + 1, wall_microseconds());
  const std::int64_t end = first + static_cast<std::int64_t>(how_many) - 1;
  if (end > used->reserved) reserved_to_ = used->reserved = end + reserve_ahead;
  note_.run(end, used->reserved);
  return static_cast<std::uint64_t>(first);
}

void mint::secure() {
  if (reserved_to_ != 0) reserve_.extend_to(reserved_to_);
}

}  // namespace holdfast::directory
