#pragma once
#include <holdfast/store.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "options/values.hpp"
#include "text/table.hpp"

namespace holdfast::cli {

/// `holdfast doctor`: what is unsafe about a store, and how to mend it.
struct doctor_options {
  store_option store{};
  bool json = false;
  bool quiet = false;    ///< the exit code says it all
  bool verbose = false;  ///< what is fine, too
};

/// Examines the store, and prints what was found to stdout. Returns the exit code: 0 if all is fine or worth a note, 1
/// with a warning, 2 in danger. Throws lock_error.
[[nodiscard]] int doctor(const doctor_options&);
/// See command.hpp.
[[nodiscard]] command_spec describe_doctor(const user_command&);

/// What `holdfast doctor` prints of a store.
struct report {
  std::string url;  ///< without secrets
  guarantees promises;
  const std::vector<finding>& findings;

  /// The worst first; what is fine is only counted, unless it is asked for.
  [[nodiscard]] std::string as_text(const style&, bool with_fine) const;
  /// One object, one line.
  [[nodiscard]] std::string as_json() const;
};

}  // namespace holdfast::cli
