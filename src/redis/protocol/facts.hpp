#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "redis/protocol/value.hpp"

namespace holdfast::redis {

/// What a server says of itself, by name.
class facts {
 public:
  /// Of the text of INFO: `name:value`, a line each. What is no such line is passed over.
  [[nodiscard]] static facts of_info(std::string_view text);
  /// Of the reply to CONFIG GET: names and values in turn.
  [[nodiscard]] static facts of_config(const value& reply);

  /// Nothing: it does not say.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const { return find(name).value_or(""); }
  /// Nothing: it does not say, or it is no number.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> all_;
};

/// The number that a text is; nothing: it is none.
[[nodiscard]] std::optional<std::int64_t> number_of(std::string_view text);

/// `name` in a text of the form `a=1,b=2`, as INFO has it for a replica; empty: it is not there.
[[nodiscard]] std::string_view field_of(std::string_view text, std::string_view name);

}  // namespace holdfast::redis
