#include "directory/reserve.hpp"

#include <fstream>
#include <sstream>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

constexpr const char* fence_file = "fences";
constexpr int format_version = 1;

std::string boot_of_this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id.empty() ? "unknown" : id;
}

}  // namespace

reserve::reserve(const folder& in) : folder_(in), this_boot_(boot_of_this_machine()) {
  const std::optional<std::string> text = in.read(fence_file);
  if (!text) return;
  std::istringstream words(*text);
  std::string ours;
  int written_by = 0;
  words >> ours >> written_by;
  if (ours == "holdfast" && written_by > format_version) {
    throw storage::failure(errc::foreign, in.file(fence_file) + " was written by a newer version of Holdfast (" +
                                              std::to_string(written_by) + ", we know " +
                                              std::to_string(format_version) + ")");
  }
  if (!(words >> boot_ >> end_) || ours != "holdfast" || end_ < 0) {
    throw storage::failure(errc::foreign, in.file(fence_file) + " is damaged, or not ours");
  }
}

void reserve::extend_to(std::int64_t end) {
  folder_.replace(fence_file,
                  "holdfast " + std::to_string(format_version) + " " + this_boot_ + " " + std::to_string(end) + "\n");
  boot_ = this_boot_;
  end_ = end;
}

}  // namespace holdfast::directory
