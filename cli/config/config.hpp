#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "config/file.hpp"

namespace holdfast::cli {

/// The files that are looked at, the strongest first: $HOLDFAST_CONFIG alone if it is set (empty: none), else the
/// user's and the system's.
[[nodiscard]] std::vector<std::string> config_paths();

/// What all files say together. Of two stores of one name, that of the stronger file is meant.
class config {
 public:
  /// Throws config_error.
  [[nodiscard]] static config read();
  [[nodiscard]] const std::vector<config_file>& files() const noexcept { return files_; }
  [[nodiscard]] std::optional<located> default_store() const;
  /// All of them, each name once.
  [[nodiscard]] std::vector<named_store> stores() const;
  /// Throws config_error, which says what there is instead; `from` is where the name stands.
  [[nodiscard]] named_store find(const std::string& name, const std::string& from) const;

 private:
  std::vector<config_file> files_;
};

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

/// `holdfast config`: what is in force, and who said so. See command.hpp.
[[nodiscard]] command_spec describe_config(const user_command&);

}  // namespace holdfast::cli
