#pragma once
#include <atomic>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "directory/folder.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"

namespace holdfast::directory {

/// The files that decide who holds, who waits and who is alive. All clients must have the same files open: if one was
/// deleted or replaced, two clients could hold one lock.
class opened_files {
 public:
  explicit opened_files(const folder& in) : folder_(in) {}
  void add(const std::string& name, const identity& opened) { all_.emplace_back(name, opened); }

  /// Throws storage::failure(foreign) if one of them, or the directory, was deleted or replaced.
  void check() const;
  /// Like check(), but costs one system call while nothing was created, deleted or renamed in the directory. For one
  /// thread at a time.
  void check_if_changed();

 private:
  void check_each() const;
  const folder& folder_;
  std::vector<std::pair<std::string, identity>> all_;
  timespec checked_{0, -1};  // the last change of the directory after which the files were checked; -1: not known
};

/// Checks every two seconds whether the files are still those that were opened, on behalf of holders that make no
/// request, and refreshes them every ten minutes. (inotify would report a change at once, but a user account has few
/// inotify instances, and a thousand waiting processes would use all of them.)
class file_watch {
 public:
  /// `check` throws if a file was deleted or replaced.
  file_watch(std::function<void()> check, std::function<void()> refresh, runtime::loop&);
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;
  ~file_watch();

  /// Starts the timer, with the first claim or cell.
  void begin() noexcept;
  /// The loop calls `reaction` whenever a check has failed.
  void when_failed(std::function<void()> reaction);

 private:
  void check() noexcept;
  const std::function<void()> check_, refresh_;
  unsigned checks_ = 0;
  runtime::loop& loop_;
  descriptor timer_;
  std::atomic<bool> begun_{false};
  runtime::guarded<std::function<void()>> reaction_;
};

}  // namespace holdfast::directory
