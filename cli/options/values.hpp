#pragma once
#include <cstdint>
#include <holdfast/store.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "config/config.hpp"

namespace holdfast::cli {

/// Checks that a descriptor is open. A closed one could be reused for one of our files and receive the events.
[[nodiscard]] std::string open_descriptor(const std::string& text);
/// Reads a fence: a number above 0.
[[nodiscard]] value_reader fence_reader(std::uint64_t& into);

/// The single word that a command works on: a name or a prefix.
class name_argument {
 public:
  /// NAME and --name, one of which is required. This must outlive the parsing, as for all rows.
  [[nodiscard]] option_rows name_rows(const std::string& help);
  /// PREFIX and --prefix, which are optional.
  [[nodiscard]] option_rows prefix_rows();
  [[nodiscard]] std::string text() const { return words_.empty() ? "" : words_.front(); }

 private:
  std::vector<std::string> words_;
};

/// The store that a command works on; see choose_store().
class store_option {
 public:
  /// This must outlive the parsing.
  [[nodiscard]] option_spec row();
  /// Returns the chosen store. The first call reads the configuration if needed and warns about a readable password.
  /// Throws config_error.
  [[nodiscard]] const chosen_store& chosen(bool quiet = false) const;
  /// May contain a password; empty: the directory of this user. Throws config_error.
  [[nodiscard]] const std::string& url() const { return chosen().url.value; }
  /// The URL for other processes; empty if it contains a password. Throws config_error.
  [[nodiscard]] std::optional<std::string> url_for_others() const;
  /// Throws lock_error or its subclass config_error.
  [[nodiscard]] store open(std::shared_ptr<observer> = {}, bool quiet = false) const;

 private:
  std::string given_;
  mutable std::optional<chosen_store> chosen_;
};

}  // namespace holdfast::cli
