#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "holdfast/limit.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"
#include "storage/owner.hpp"

namespace holdfast::storage {

using runtime::io;
using runtime::task;
using runtime::wake;
using std::chrono::milliseconds;

/// What stood in a cell when somebody looked.
struct reading {
  /// Every change makes the next one. Also of a cell with nothing in it: a change can say that it saw nothing. A cell
  /// that went and came again never repeats one, unless the store's clock was set back.
  std::uint64_t version = 0;
  bool there = false;  ///< false: there is nothing, and all that follows says nothing
  std::uint64_t number = 0;
  std::string note{};
  milliseconds left{};  ///< until it goes by itself
};

/// What somebody wants to stand there.
struct change {
  owner_id id{};  ///< of this change, random: a store remembers the last 64 of a cell
  std::uint64_t number = 0;
  std::string note{};  ///< at most longest_note bytes, without NUL
  milliseconds ttl{};  ///< 0: it is removed
  bool again = false;  ///< it was asked for before, and nobody knows what became of it
};

inline constexpr std::size_t longest_note = 256;

/// A named number with a note and a ttl, which all clients of a store see, and change by comparing and setting. It has
/// nothing to do with a lock of that name.
///
/// One call at a time, from any thread, each with the io of whoever calls. Limits cut as those of a claim. Between
/// calls nobody knows of it: it may be dropped anywhere, also in a fork.
class cell {
 public:
  virtual ~cell() = default;
  /// Why there is none, and never will be: all else answers that, too. Asks nobody.
  [[nodiscard]] virtual std::optional<failure> refusal() const { return std::nullopt; }
  /// yes or unknown.
  virtual task<answer<reading>> get(io&, limit) = 0;
  /// Changes it if it still has the version `seen`. yes: the version that this change made, also if it was made when it
  /// was asked for before; no: it was not made, and never will be. After an unknown the same change may be asked for
  /// again, with `again` set: unknown(lost) says then that nobody can tell any more, since more than 64 others were
  /// made, or the cell ended more than a minute ago.
  virtual task<answer<std::uint64_t>> put(io&, std::uint64_t seen, change, limit) = 0;
  /// Until it is perhaps not as seen any more (signalled), or for the limit. May be early. A change that only puts off
  /// the end is not told; never waits for a message alone.
  virtual task<wake> changed(io&, reading seen, limit) = 0;
};

/// The answer to a change that was asked for again and of which nothing is known any more.
[[nodiscard]] failure forgotten_change();
/// Whoever waits looks again after about this time, whatever was told.
inline constexpr milliseconds look_again = std::chrono::seconds(10);

}  // namespace holdfast::storage
