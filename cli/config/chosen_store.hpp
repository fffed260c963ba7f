#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "config/file.hpp"

namespace holdfast::cli {

/// The store that is meant, and who said so. `from` is --store, HOLDFAST_STORE, FILE:LINE, or "built in".
struct chosen_store {
  located given{};  ///< a name or a URL; empty: the directory of this user
  located url{};    ///< empty: the directory of this user. It may have a password
  std::optional<std::chrono::milliseconds> ttl{};
  located ttl_as_written{};
  std::string warning{};  ///< what the user should know; empty: nothing
};

/// --store (empty: not given), else $HOLDFAST_STORE, else the default of the files, else the directory of this user.
/// The files are read only if a name or a default is wanted. Throws config_error.
[[nodiscard]] chosen_store choose_store(const std::string& by_option);

/// That others may read the password of this store; empty: they may not.
[[nodiscard]] std::string warning_of(const named_store&);

/// What is wrong with a store for several processes; empty: nothing. A store inside this one cannot protect them.
[[nodiscard]] std::string shared_store(const std::string& name_or_url);

}  // namespace holdfast::cli
