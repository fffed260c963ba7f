#pragma once
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "text/json.hpp"

namespace holdfast::cli {

/// What a program can read about a run: one JSON object a line, on the descriptor of --status-fd.
class status {
 public:
  /// From now on no command inherits the descriptor, unless it is a standard one: what is said there is ours alone to
  /// say, and ends with us.
  explicit status(int fd = -1) noexcept;

  struct field {
    std::string_view name;
    json_value value;
  };
  /// {"event": what, "time": seconds since 1970, ...}, with its newline.
  [[nodiscard]] static std::string line(std::string_view what, std::initializer_list<field> more = {});
  /// Says such a line. A reader that is gone is no reason to stop.
  void tell(std::string_view what, std::initializer_list<field> more = {}) const;

 private:
  int fd_;
};

}  // namespace holdfast::cli
