#pragma once
#include <string>

#include "command.hpp"

namespace holdfast::cli {

/// The one word that a command is about: a name, or how names begin. After "--" it may begin with a dash.
class name_argument {
 public:
  /// This must outlive the parsing.
  [[nodiscard]] option_spec row(const std::string& title, const std::string& help);
  /// Takes what follows "--". False, and told on stderr: too many words, or none where one must be.
  [[nodiscard]] bool complete(const std::string& command, const user_command& after_dashes, bool required);
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string title_, text_;
};

}  // namespace holdfast::cli
