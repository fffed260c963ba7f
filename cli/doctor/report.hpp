#pragma once
#include <holdfast/store.hpp>
#include <string>
#include <vector>

#include "text/style.hpp"

namespace holdfast::cli {

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
