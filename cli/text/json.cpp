// The only source that includes nlohmann-json.
#include "text/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace holdfast::cli {

namespace {

using library_json = nlohmann::ordered_json;

library_json to_library(const json_value&);

struct library_maker {
  library_json operator()(std::monostate) const { return nullptr; }
  library_json operator()(const json_value::array& all) const {
    library_json made = library_json::array();
    for (const json_value& each : all) made.push_back(to_library(each));
    return made;
  }
  library_json operator()(const json_value::object& all) const {
    library_json made = library_json::object();
    for (const auto& [name, each] : all) made[name] = to_library(each);
    return made;
  }
  template <class Plain>
  library_json operator()(const Plain& value) const {
    return value;
  }
};

library_json to_library(const json_value& from) { return std::visit(library_maker(), from.value()); }

json_value from_library(const library_json& from) {
  switch (from.type()) {
    case library_json::value_t::boolean: return from.get<bool>();
    case library_json::value_t::number_integer: return from.get<std::int64_t>();
    case library_json::value_t::number_unsigned: return from.get<std::uint64_t>();
    case library_json::value_t::number_float: return from.get<double>();
    case library_json::value_t::string: return from.get<std::string>();
    case library_json::value_t::array: {
      json_value::array all;
      for (const library_json& each : from) all.push_back(from_library(each));
      return all;
    }
    case library_json::value_t::object: {
      json_value::object all;
      for (const auto& [name, each] : from.items()) all.emplace_back(name, from_library(each));
      return all;
    }
    default: return {};
  }
}

}  // namespace

json_value& json_value::operator[](std::string_view name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = object();
  auto& all = std::get<object>(value_);
  const auto found = std::ranges::find(all, name, [](const auto& each) -> std::string_view { return each.first; });
  return found != all.end() ? found->second : all.emplace_back(name, json_value()).second;
}

void json_value::push_back(json_value each) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = array();
  std::get<array>(value_).push_back(std::move(each));
}

std::string json_value::dump(charset in, int indent) const {
  return to_library(*this).dump(indent, ' ', in == charset::ascii, library_json::error_handler_t::replace);
}

json_value json_value::parse(std::string_view text) { return from_library(library_json::parse(text, nullptr, false)); }

template <class T>
const T* json_value::member(std::string_view name) const {
  const auto* const all = std::get_if<object>(&value_);
  if (all == nullptr) return nullptr;
  for (const auto& [key, each] : *all) {
    if (key == name) return std::get_if<T>(&each.value_);
  }
  return nullptr;
}

std::string json_value::text(std::string_view name) const {
  const auto* const found = member<std::string>(name);
  return found == nullptr ? "" : *found;
}

std::uint64_t json_value::number(std::string_view name) const {
  const auto* const found = member<std::uint64_t>(name);
  return found == nullptr ? 0 : *found;
}

}  // namespace holdfast::cli
