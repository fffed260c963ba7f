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

/// The configuration is wrong. Says where, what, and what would be right; never quotes what may be a secret. Whoever
/// opens a store hears of it as of a URL that is wrong (exit code 78), but in these words alone.
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

/// Reads a file that only we or root may change: whoever can change it chooses where our locks are. Nothing: there is
/// no such file. Throws config_error if others may write to it, or if it cannot be read: to go on without it could be
/// to lock somewhere else than all others do.
[[nodiscard]] std::optional<trusted_text> read_trusted(const std::string& path);

/// The line, from 1, of the first character of a TOML file that is not ASCII and stands neither in quotes (three double
/// ones are none here: we have no text of several lines) nor in a comment: there is no such thing in TOML. toml++ 3.3
/// may do anything when it meets one.
[[nodiscard]] std::optional<std::size_t> odd_line_outside_quotes(std::string_view toml) noexcept;

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
