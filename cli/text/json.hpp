#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::cli {

/// A JSON document. Objects keep the order of insertion. Hides nlohmann-json, which takes seconds to compile, in one
/// source.
class json_value {
 public:
  using array = std::vector<json_value>;
  using object = std::vector<std::pair<std::string, json_value>>;

  json_value() noexcept = default;  ///< null
  json_value(bool b) : value_(b) {}
  template <std::signed_integral Number>
  json_value(Number n) : value_(std::int64_t{n}) {}
  template <std::unsigned_integral Number>
  json_value(Number n) : value_(std::uint64_t{n}) {}
  json_value(double d) : value_(d) {}
  json_value(const char* text) : value_(std::string(text)) {}
  json_value(std::string_view text) : value_(std::string(text)) {}
  json_value(std::string text) : value_(std::move(text)) {}
  json_value(array all) : value_(std::move(all)) {}
  json_value(object all) : value_(std::move(all)) {}

  /// Returns the member, which is added as null if it does not exist. A null becomes an object.
  [[nodiscard]] json_value& operator[](std::string_view name);
  /// Appends an element. A null becomes an array.
  void push_back(json_value);

  enum class charset { utf8, ascii };
  /// Returns the text without a trailing newline. Invalid UTF-8 is replaced by U+FFFD. With an indent, each member has
  /// its own line.
  [[nodiscard]] std::string dump(charset, int indent = -1) const;

  /// Returns null for invalid JSON.
  [[nodiscard]] static json_value parse(std::string_view text);
  /// Returns a string member, or an empty string.
  [[nodiscard]] std::string text(std::string_view name) const;
  /// Returns a non-negative integer member, or 0.
  [[nodiscard]] std::uint64_t number(std::string_view name) const;

  using storage = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, array, object>;
  [[nodiscard]] const storage& value() const noexcept { return value_; }

 private:
  template <class T>
  [[nodiscard]] const T* member(std::string_view name) const;

  storage value_;
};

}  // namespace holdfast::cli
