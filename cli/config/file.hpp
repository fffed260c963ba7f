#pragma once
#include <chrono>
#include <cstddef>
#include <holdfast/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::cli {

/// An error in the configuration. The message says where and what is wrong and how to fix it, and never quotes what may
/// be a secret. The exit code is that of a bad URL (78).
class config_error : public lock_error {
 public:
  explicit config_error(std::string text) : lock_error(errc::bad_url, "", text), text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

struct trusted_text {
  std::string text{};
  bool others_may_read = false;
};

/// Reads a file that only root or we can change, since it decides where the locks are. Returns nothing if it does not
/// exist. Throws config_error if others can write to it or if it cannot be read: ignoring it could mean using another
/// store than everybody else.
[[nodiscard]] std::optional<trusted_text> read_trusted(const std::string& path);

/// Returns the line (from 1) of the first non-ASCII character outside of quoted strings and comments, where TOML does
/// not allow it. Multi-line strings count as unquoted, as we have none. toml++ 3.3 has undefined behaviour on such
/// characters.
[[nodiscard]] std::optional<std::size_t> unquoted_non_ascii_line(std::string_view toml) noexcept;

/// A value and where it was found.
struct located {
  std::string value{};
  std::string from{};  ///< FILE:LINE
};

/// [stores.NAME]
struct named_store {
  std::string name{};
  located url{};  ///< with password_file as an option; may contain a password
  std::optional<std::chrono::milliseconds> ttl{};
  located ttl_as_written{};
  bool password_is_readable = false;  ///< the URL contains a password, and other users can read the file
};

/// The content of one file.
struct config_file {
  std::string path{};
  std::optional<located> default_store{};  ///< a name or a URL
  std::vector<named_store> stores{};
};

/// Returns nothing if the file does not exist. Throws config_error for unknown keys and invalid values.
[[nodiscard]] std::optional<config_file> read_config_file(const std::string& path);

}  // namespace holdfast::cli
