#pragma once
#include <holdfast/error.hpp>
#include <string>
#include <utility>

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

}  // namespace holdfast::cli
