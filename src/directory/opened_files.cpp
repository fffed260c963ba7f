#include "directory/opened_files.hpp"

#include <chrono>

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

/// Returns true if another change of the directory would get another time. The kernel's clock for files ticks every 10
/// ms or faster, and file systems that keep whole seconds every two seconds or faster.
bool has_ticked_since(const timespec& change) {
  const auto when = std::chrono::seconds(change.tv_sec) + std::chrono::nanoseconds(change.tv_nsec);
  return system_clock::now().time_since_epoch() > when + (change.tv_nsec == 0 ? 3s : 100ms);
}

}  // namespace

void opened_files::check() const {
  (void)folder_.check();
  check_each();
}

// If the clock is set back, a change may seem to be in the future. Then every call checks each file.
void opened_files::check_if_changed() {
  const timespec changed = folder_.check();
  if (changed.tv_sec == checked_.tv_sec && changed.tv_nsec == checked_.tv_nsec) return;
  checked_.tv_nsec = -1;
  check_each();
  if (has_ticked_since(changed)) checked_ = changed;
}

void opened_files::check_each() const {
  for (const auto& [name, opened] : all_) folder_.check(name, opened);
}

}  // namespace holdfast::directory
