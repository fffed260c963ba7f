#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

struct key {
  enum class kind { text, up, down, page_up, page_down, home, end, enter, escape, backspace };
  kind what;
  std::string text{};  ///< one character, of text
};

/// What a terminal sends, as keys. A key may come in parts; what is not known is left out.
class key_reader {
 public:
  [[nodiscard]] std::vector<key> take(std::string_view bytes);
  /// The beginning of a key is here, and may be all of it: the escape key sends what many others begin with.
  [[nodiscard]] bool is_waiting() const noexcept { return !rest_.empty(); }
  /// Nothing followed.
  [[nodiscard]] std::vector<key> give_up();

 private:
  std::string rest_;
};

}  // namespace holdfast::cli
