#include "directory/fences.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

constexpr const char* fence_file = "fences";
constexpr int format_version = 1;
// Fences, or microseconds: the reserve is written at most every ten seconds.
constexpr std::int64_t reserved_ahead = 10'000'000;

std::string boot_of_this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id.empty() ? "unknown" : id;
}

std::int64_t wall_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

fence_reserve::fence_reserve(const folder& in) : folder_(in), this_boot_(boot_of_this_machine()) {
  const std::optional<std::string> text = in.read(fence_file);
  if (!text) return;
  std::istringstream words(*text);
  std::string program;
  int version = 0;
  words >> program >> version;
  if (program == "holdfast" && version > format_version) {
    throw storage::failure(errc::foreign, in.file(fence_file) + " was written by a newer version of Holdfast (format " +
                                              std::to_string(version) + ", this version knows " +
                                              std::to_string(format_version) + ")");
  }
  if (!(words >> boot_ >> end_) || program != "holdfast" || end_ < 0) {
    throw storage::failure(errc::foreign, in.file(fence_file) + " is damaged, or belongs to another program");
  }
}

void fence_reserve::extend_to(std::int64_t end) {
  folder_.replace(fence_file,
                  "holdfast " + std::to_string(format_version) + " " + this_boot_ + " " + std::to_string(end) + "\n");
  boot_ = this_boot_;
  end_ = end;
}

fence_allocator::fence_allocator(const folder& in, const database& of)
    : folder_(in),
      reserve_(in),
      read_(of.get(), "SELECT last, reserved FROM mint"),
      write_(of.get(), "UPDATE mint SET last = ?, reserved = ?") {}

std::uint64_t fence_allocator::next(std::uint64_t count) {
  struct used_fences {
    std::int64_t last, reserved;
  };
  std::optional<used_fences> used = read_.row<used_fences>();
  if (!used) {
    throw storage::failure(errc::foreign, folder_.file("locks.db") +
                                              " does not say which fences were used; it is damaged, so move it away "
                                              "when no lock is held");
  }
  const std::int64_t first = std::max(used->last + 1, wall_microseconds());
  const std::int64_t last = first + static_cast<std::int64_t>(count) - 1;
  if (last > used->reserved) reserved_to_ = used->reserved = last + reserved_ahead;
  write_.run(last, used->reserved);
  return static_cast<std::uint64_t>(first);
}

void fence_allocator::secure() {
  if (reserved_to_ != 0) reserve_.extend_to(reserved_to_);
}

}  // namespace holdfast::directory
