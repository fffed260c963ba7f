#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// A value of a file, and where it stands.
struct located {
  std::string value{};
  std::string from{};  ///< FILE:LINE
};

/// [stores.NAME]
struct named_store {
  std::string name{};
  located url{};  ///< with the password_file, if one is given. It may have a password
  std::optional<std::chrono::milliseconds> ttl{};
  located ttl_as_written{};
  bool password_is_readable = false;  ///< it stands in the file, and others may read that
};

/// What one file says.
struct config_file {
  std::string path{};
  std::optional<located> default_store{};  ///< a name or a URL
  std::vector<named_store> stores{};
};

/// Nothing: there is no such file. Throws config_error for what it does not know or that cannot be.
[[nodiscard]] std::optional<config_file> read_config_file(const std::string& path);

}  // namespace holdfast::cli
