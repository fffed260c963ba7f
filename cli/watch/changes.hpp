#pragma once
#include <chrono>
#include <cstddef>
#include <holdfast/limit.hpp>
#include <holdfast/listing.hpp>
#include <holdfast/state.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "text/json.hpp"

namespace holdfast::cli {

/// A difference between two observations of a name.
struct change {
  enum class kind {
    present,      ///< seen for the first time
    acquired,     ///< by `to`
    released,     ///< by `from`
    handed_over,  ///< from `from` to `to`
    broken,       ///< taken from `from` by force
    asked,        ///< a revoke request was sent to the holders
    holders,      ///< their number changed; too many to list them
    waiting,      ///< only the number of waiters changed
  };
  kind what;
  std::string name;
  state now;  ///< after the change
  std::optional<state::holder> from{}, to{};
  bool perhaps_lost = false;  ///< released: its lease may have expired instead
};

/// Compares observations of names. Keeps the last observation of each.
class changes {
 public:
  using instant = boot_clock::time_point;
  /// Begins a round, which observes all names. Names in the first round are `present`.
  void begin_round() noexcept { ++round_; }
  [[nodiscard]] std::vector<change> see(const listing::entry&, instant at);
  /// Returns the names of earlier rounds that have not been observed in this one.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  struct memory {
    state was;
    instant at;
    std::uint64_t round;
  };
  std::map<std::string, memory> names_;
  std::uint64_t round_ = 0;
};

/// Returns a line without a newline, cut to `width` if given.
[[nodiscard]] std::string to_text(const change&, std::chrono::system_clock::time_point,
                                  std::optional<std::size_t> width);
[[nodiscard]] json_value to_json(const change&, std::chrono::system_clock::time_point);

}  // namespace holdfast::cli
