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

/// Checks a descriptor to write to. One that is not open now would soon be a file of our own, and receive the events.
[[nodiscard]] std::string open_descriptor(const std::string& text);
/// Reads a fence: a number from 1.
[[nodiscard]] value_reader fence_reader(std::uint64_t& into);

/// The one word that a command is about: a name, or how names begin.
class name_argument {
 public:
  /// NAME and --name: one of them must be given. This must outlive the parsing, as for all rows.
  [[nodiscard]] option_rows name_rows(const std::string& help);
  /// PREFIX and --prefix: one of them may be given.
  [[nodiscard]] option_rows prefix_rows();
  [[nodiscard]] std::string text() const { return words_.empty() ? "" : words_.front(); }

 private:
  std::vector<std::string> words_;
};

/// Which store a command works on: --store, else $HOLDFAST_STORE, else the default of the configuration, else the
/// directory of this user.
class store_option {
 public:
  /// This must outlive the parsing.
  [[nodiscard]] option_spec row();
  /// What was chosen, and why. Reads the files of the configuration when it is first asked, and only if they matter,
  /// and warns of a password that others may read. Throws config_error.
  [[nodiscard]] const chosen_store& chosen(bool quiet = false) const;
  /// Empty: the directory of this user. It may have a password. Throws config_error.
  [[nodiscard]] const std::string& url() const { return chosen().url.value; }
  /// For processes that are to use the same store. Nothing: there is a password in it. Throws config_error.
  [[nodiscard]] std::optional<std::string> url_for_others() const;
  /// Throws lock_error; a config_error is one.
  [[nodiscard]] store open(std::shared_ptr<observer> = {}, bool quiet = false) const;

 private:
  std::string given_;
  mutable std::optional<chosen_store> chosen_;
};

}  // namespace holdfast::cli
