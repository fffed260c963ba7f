#include "holdfast/sql_fence_gate.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast {

namespace {

/// Rejects names that need quotes: quoting differs between databases, and a missing quote is an injection.
std::string checked(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_plain = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 63 || !is_letter(name.front()) || !std::ranges::all_of(name, is_plain)) {
    throw std::invalid_argument("not a plain SQL name: " + std::string(name));
  }
  return std::string(name);
}

/// SQL names are not case-sensitive.
bool same(std::string_view one, std::string_view other) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(one, other, {}, lower, lower);
}

/// The columns to set besides the key and the fence, each once. Each is set to the parameter of its name, so `key` and
/// `fence` are rejected.
std::vector<std::string> checked_columns(std::initializer_list<std::string_view> names, std::string_view key,
                                         std::string_view fence) {
  std::vector<std::string> columns;
  for (const std::string_view name : names) {
    const bool taken = same(name, key) || same(name, fence) || same(name, "key") || same(name, "fence");
    const bool again = std::ranges::any_of(columns, [&](const std::string& before) { return same(name, before); });
    if (taken || again) throw std::invalid_argument("not a column to be set: " + std::string(name));
    columns.push_back(checked(name));
  }
  return columns;
}

}  // namespace

sql_fence_gate::sql_fence_gate(std::string_view table, std::string_view key, std::string_view fence)
    : table_(checked(table)), key_(checked(key)), fence_(checked(fence)) {}

std::string sql_fence_gate::predicate() const { return fence_ + " <= :fence"; }

std::string sql_fence_gate::raise() const { return update({}); }

std::string sql_fence_gate::update(std::initializer_list<std::string_view> columns) const {
  std::string sql = "UPDATE " + table_ + " SET " + fence_ + " = :fence";
  for (const std::string& name : checked_columns(columns, key_, fence_)) {
    sql.append(", ").append(name).append(" = :").append(name);
  }
  return sql + " WHERE " + key_ + " = :key AND " + predicate();
}

std::string sql_fence_gate::upsert(std::initializer_list<std::string_view> columns) const {
  std::string names = key_ + ", " + fence_, values = ":key, :fence", changes = fence_ + " = excluded." + fence_;
  for (const std::string& name : checked_columns(columns, key_, fence_)) {
    names += ", " + name;
    values += ", :" + name;
    changes.append(", ").append(name).append(" = excluded.").append(name);
  }
  return "INSERT INTO " + table_ + " (" + names + ") VALUES (" + values + ") ON CONFLICT (" + key_ +
         ") DO UPDATE SET " + changes + " WHERE " + table_ + "." + fence_ + " <= excluded." + fence_;
}

}  // namespace holdfast
