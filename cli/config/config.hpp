#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "config/file.hpp"

namespace holdfast::cli {

/// The configuration files by descending priority: only $HOLDFAST_CONFIG if it is set (empty: none), otherwise the
/// user's file and /etc/holdfast.toml.
[[nodiscard]] std::vector<std::string> config_paths();

/// The merged configuration. If two files define a store, the one with higher priority wins.
class config {
 public:
  /// Throws config_error.
  [[nodiscard]] static config read();
  [[nodiscard]] const std::vector<config_file>& files() const noexcept { return files_; }
  [[nodiscard]] std::optional<located> default_store() const;
  /// All stores, each name once.
  [[nodiscard]] std::vector<named_store> stores() const;
  /// Throws config_error, which lists the known stores; `from` is where the name was given.
  [[nodiscard]] named_store find(const std::string& name, const std::string& from) const;

 private:
  std::vector<config_file> files_;
};

/// The chosen store and where the choice comes from: --store, HOLDFAST_STORE, FILE:LINE, or "built in".
struct chosen_store {
  located given{};  ///< a name or a URL; empty: the directory of this user
  located url{};    ///< may contain a password; empty: the directory of this user
  std::optional<std::chrono::milliseconds> ttl{};
  located ttl_as_written{};
  std::string warning{};  ///< for the user; empty: none
};

/// Takes the store from the first of these that is set: --store, $HOLDFAST_STORE, the default of the files, the
/// directory of this user. Reads the files only if a name or a default is needed. Throws config_error.
[[nodiscard]] chosen_store choose_store(const std::string& by_option);

/// A warning if other users can read the store's password; otherwise empty.
[[nodiscard]] std::string warning_of(const named_store&);

/// Returns why processes cannot share this store; empty if they can. A store inside one process cannot.
[[nodiscard]] std::string shared_store(const std::string& name_or_url);

/// `holdfast config`: prints the configuration and where each value comes from. See command.hpp.
[[nodiscard]] command_spec describe_config(const user_command&);

}  // namespace holdfast::cli
