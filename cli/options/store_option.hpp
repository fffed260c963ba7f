#pragma once
#include <holdfast/store.hpp>
#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "config/chosen_store.hpp"

namespace holdfast::cli {

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
