#pragma once
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "directory/folder.hpp"

namespace holdfast::directory {

/// The files that say who holds, who waits and who lives. All clients must have the same ones open: where one of them
/// was deleted or replaced, two clients could hold one lock.
class opened_files {
 public:
  explicit opened_files(const folder& in) : folder_(in) {}
  void add(const std::string& name, const identity& opened) { all_.emplace_back(name, opened); }

  /// Throws storage::failure(foreign) if one of them, or the directory, was deleted or replaced.
  void check() const;
  /// The same for the price of one system call while nothing was created, deleted or renamed in the directory. For one
  /// thread at a time.
  void check_if_changed();

 private:
  void check_each() const;
  const folder& folder_;
  std::vector<std::pair<std::string, identity>> all_;
  timespec checked_{0, -1};  // the last change of the directory that the files were checked after; -1: not known
};

}  // namespace holdfast::directory
