#pragma once
#include <sys/stat.h>

#include <optional>
#include <string>

#include "runtime/descriptor.hpp"

namespace holdfast::directory {

using runtime::descriptor;

/// The file that a name referred to when it was opened. Other programs may delete or replace it later.
class identity {
 public:
  explicit identity(const struct stat& of) noexcept : device_(of.st_dev), inode_(of.st_ino) {}
  [[nodiscard]] bool is(const struct stat& other) const noexcept {
    return other.st_dev == device_ && other.st_ino == inode_;
  }

 private:
  dev_t device_;
  ino_t inode_;
};
/// Reports a file of a store that is not the one that was opened.
[[noreturn]] void fail_as_replaced(const std::string& path);

/// The directory of a store. It is created if it does not exist. It is refused if other users can write to it, if it
/// has other files than those of a store, or if it is on a file system on which the kernel keeps no locks.
class folder {
 public:
  /// Throws storage::failure.
  explicit folder(const std::string& path);
  /// "/var/tmp/holdfast-<uid>".
  [[nodiscard]] static std::string of_this_user();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Throws storage::failure(foreign) if its path refers to another directory by now, because it or one above it was
  /// moved. Returns the time at which a file in it was last created, deleted or renamed.
  timespec check() const;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// A short alias of any path, because the address of a socket has room for 107 bytes only.
  [[nodiscard]] std::string short_path(const std::string& name) const;
  /// Opens or creates a file in it; the descriptor does not survive exec. Throws storage::failure.
  [[nodiscard]] descriptor open_file(const std::string& name) const;
  /// Creates an empty file if it does not exist. Does not open an existing file. Throws storage::failure.
  void make_file(const std::string& name) const;
  /// Returns the text of a small file, or an empty optional if it does not exist. Throws storage::failure.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;
  /// Replaces the text of a file atomically and durably: after a power loss it is the old one or the new one, and the
  /// new one once this has returned. Throws storage::failure.
  void replace(const std::string& name, const std::string& text) const;
  /// Returns the file that a name refers to now. Throws storage::failure(foreign) if it does not exist.
  [[nodiscard]] identity identify(const std::string& name) const;
  /// Throws storage::failure(foreign) if the name refers to another file by now, or to none.
  void check(const std::string& name, const identity&) const;
  /// Sets the times of a file to now, if it exists.
  void refresh(const std::string& name) const noexcept;
  /// Creates a folder in it if it does not exist. Throws storage::failure.
  void make_folder(const std::string& name) const;
  void remove(const std::string& name) const noexcept;

 private:
  std::string path_;
  descriptor fd_;
  std::optional<identity> identity_;
};

}  // namespace holdfast::directory
