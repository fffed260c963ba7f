#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/cell_record.hpp"

namespace holdfast::memory {

/// The cells of a server. Callers pass the time.
class cells {
 public:
  [[nodiscard]] storage::reading get(const std::string& name, runtime::instant now) const;
  [[nodiscard]] storage::answer<std::uint64_t> put(const std::string& name, std::uint64_t seen, const storage::change&,
                                                   runtime::instant now);
  /// Returns false if the cell differs from what was seen. Otherwise sets the signal when it changes, until forget().
  [[nodiscard]] bool watch(const std::string& name, const storage::reading& seen, runtime::signal&,
                           runtime::instant now);
  void forget(const std::string& name, const runtime::signal&) noexcept;
  void clear();
  [[nodiscard]] std::size_t size() const noexcept;  ///< cells that are kept or waited for, and some that were

 private:
  struct entry {
    std::optional<storage::cell_record> record;
    std::vector<runtime::signal*> watchers;
  };
  struct table {
    std::unordered_map<std::string, entry> named;
    std::size_t tidy_at = 64;  // fewer are not worth the search
  };
  static void tidy(table&, std::int64_t now);
  runtime::guarded<table> table_;
};

}  // namespace holdfast::memory
