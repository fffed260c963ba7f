#pragma once
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast {

/// What went wrong. "Someone else holds it" is not here: busy is a value.
enum class errc {
  unreachable = 1,  ///< the store gave no answer: refused, cut, silent
  denied,           ///< it answered that we may not: credentials, permissions
  not_ready,        ///< it cannot serve locks now: loading, read-only, full
  foreign,          ///< the name holds something that is not ours, or of a newer version
  lost,             ///< the lease had ended before
  closed,           ///< the store was closed
  forked,           ///< this process is a fork of the one that opened the store
  would_deadlock,   ///< this thread holds it already through this object
  bad_url,
  bad_name,
  bad_option,
  unsupported,  ///< by this store, or by this build
};

[[nodiscard]] const std::error_category& error_category() noexcept;
[[nodiscard]] std::error_code make_error_code(errc) noexcept;

/// Thrown when a store fails. what() names the lock, the store (without secrets) and the server's own words.
class lock_error : public std::system_error {
 public:
  lock_error(std::error_code, std::string_view lock, std::string_view text, bool no_answer = false);
  [[nodiscard]] const std::string& lock() const noexcept { return lock_; }
  /// True for `unreachable` if no answer came in time and nobody reported an error, such as a refused connection.
  [[nodiscard]] bool no_answer() const noexcept { return no_answer_; }

 private:
  std::string lock_;
  bool no_answer_;
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
