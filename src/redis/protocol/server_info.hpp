#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "redis/protocol/value.hpp"

namespace holdfast::redis {

/// Named values, as a server reports them about itself.
class server_info {
 public:
  /// Reads the text of INFO: one `name:value` per line. Other lines are skipped.
  [[nodiscard]] static server_info of_info(std::string_view text);
  /// Reads the reply to CONFIG GET, in which names and values alternate.
  [[nodiscard]] static server_info of_config(const value& reply);

  /// Returns nothing if there is no such value.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name).has_value(); }
  [[nodiscard]] bool is(std::string_view name, std::string_view text) const { return find(name) == text; }
  [[nodiscard]] std::string_view text(std::string_view name) const { return find(name).value_or(""); }
  /// Returns nothing if there is no such value or if it is not a number.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise) const {
    return number(name).value_or(otherwise);
  }

  void set(std::string_view name, std::string text) { all_.insert_or_assign(std::string(name), std::move(text)); }
  void set(std::string_view name, std::int64_t number) { set(name, std::to_string(number)); }
  /// Adds the values of `other`, which take precedence.
  void add(const server_info& other);

 private:
  std::map<std::string, std::string, std::less<>> all_;
};

/// Returns the number that the text is, or nothing if it is not a number.
[[nodiscard]] std::optional<std::int64_t> number_of(std::string_view text);

/// Returns the value of `name` in a text such as `a=1,b=2`, which INFO has for each replica, or an empty text.
[[nodiscard]] std::string_view field_of(std::string_view text, std::string_view name);

}  // namespace holdfast::redis
