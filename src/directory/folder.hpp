#pragma once
#include <sys/stat.h>

#include <optional>
#include <string>

#include "runtime/descriptor.hpp"

namespace holdfast::directory {

using runtime::descriptor;

/// Which file a name led to when it was opened. Somebody may delete or replace it under way.
class identity {
 public:
  identity(std::string path, int fd);   ///< of what is open
  explicit identity(std::string path);  ///< of what is there now
  /// Throws seam::failure(foreign) when the name leads elsewhere by now.
  void check() const;

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// The directory of a store: made if it is not there, and refused if others could write in it, or if it is on a file
/// system whose locks the kernel does not keep.
class folder {
 public:
  /// Throws seam::failure.
  explicit folder(const std::string& path);
  /// "/var/tmp/holdfast-<uid>".
  [[nodiscard]] static std::string of_this_user();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Throws seam::failure(foreign) when its path leads elsewhere by now: it, or something above it, was moved away.
  void check() const;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Short whatever the path is: the address of a socket has room for 107 bytes only.
  [[nodiscard]] std::string short_path(const std::string& name) const;
  /// Opens or creates a file in it; the descriptor does not survive exec. Throws seam::failure.
  [[nodiscard]] descriptor open_file(const std::string& name) const;
  /// Makes an empty file if there is none, and leaves one that is there alone, unopened. Throws seam::failure.
  void make_file(const std::string& name) const;
  /// The text of a small file; nothing if there is none. Throws seam::failure.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;
  /// Puts a text in its place: whatever happens, a loss of power included, it is the old one or the new one, and when
  /// this returns, the new one. Throws seam::failure.
  void replace(const std::string& name, const std::string& text) const;
  void make_folder(const std::string& name) const;  ///< if it is not there; throws seam::failure
  void remove(const std::string& name) const noexcept;

 private:
  std::string path_;
  descriptor fd_;
  std::optional<identity> identity_;
};

}  // namespace holdfast::directory
