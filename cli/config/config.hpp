#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/file.hpp"

namespace holdfast::cli {

/// The files that are looked at, the strongest first: $HOLDFAST_CONFIG alone if it is set (empty: none), else the
/// user's and the system's.
[[nodiscard]] std::vector<std::string> config_paths();

/// What all files say together. Of two stores of one name, that of the stronger file is meant.
class config {
 public:
  /// Throws config_error.
  [[nodiscard]] static config read();
  [[nodiscard]] const std::vector<config_file>& files() const noexcept { return files_; }
  [[nodiscard]] std::optional<located> default_store() const;
  /// All of them, each name once.
  [[nodiscard]] std::vector<named_store> stores() const;
  /// Throws config_error, which says what there is instead; `from` is where the name stands.
  [[nodiscard]] named_store find(const std::string& name, const std::string& from) const;

 private:
  std::vector<config_file> files_;
};

}  // namespace holdfast::cli
