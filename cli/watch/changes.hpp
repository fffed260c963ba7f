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

/// What became of a name between two looks at it.
struct change {
  enum class kind {
    present,      ///< how it is at the first look
    acquired,     ///< by `to`
    released,     ///< by `from`
    handed_over,  ///< from `from` to `to`
    broken,       ///< taken from `from` by force
    asked,        ///< somebody asked the holders to let go
    holders,      ///< there are more or fewer of them, too many to tell who
    waiting,      ///< only the number of those who wait is another
  };
  kind what;
  std::string name;
  state now;  ///< after it
  std::optional<state::holder> from{}, to{};
  bool perhaps_lost = false;  ///< released: or not renewed in time
};

/// Remembers how names were, and tells what has changed when they are seen again. One memory of each name is kept.
class changes {
 public:
  using instant = boot_clock::time_point;
  /// A round is one look at all names; in the first all are present.
  void begin_round() noexcept { ++round_; }
  [[nodiscard]] std::vector<change> see(const listing::entry&, instant at);
  /// Those that were there before this round, and have not been seen in it.
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

/// A line for people, without a newline; with a width, cut to it.
[[nodiscard]] std::string to_text(const change&, std::chrono::system_clock::time_point,
                                  std::optional<std::size_t> width);
[[nodiscard]] json_value to_json(const change&, std::chrono::system_clock::time_point);

}  // namespace holdfast::cli
