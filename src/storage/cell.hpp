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

/// The content of a cell when it was read.
struct reading {
  /// Every change increments it. An empty cell has one too, so that a change can say that it saw nothing. A cell that
  /// is created again never repeats a version, unless the store's clock was set back.
  std::uint64_t version = 0;
  bool there = false;  ///< false: the cell is empty, and the following fields have no meaning
  std::uint64_t number = 0;
  std::string note{};
  milliseconds left{};  ///< until it expires
};

/// A requested change of a cell.
struct change {
  owner_id id{};  ///< of this change, random: a store remembers the last 64 ids of a cell
  std::uint64_t number = 0;
  std::string note{};  ///< at most longest_note bytes, without NUL
  milliseconds ttl{};  ///< 0: removes the cell
  bool again = false;  ///< the change was requested before, with an unknown result
};

inline constexpr std::size_t longest_note = 256;

/// A named number with a note and a ttl, which all clients of a store see and change by compare and set. It is
/// unrelated to a lock of that name.
///
/// One call at a time, from any thread, each with the io of its caller. Limits work as for a claim. No state is kept
/// between calls, so a cell may be destroyed anywhere, also in a fork.
class cell {
 public:
  virtual ~cell() = default;
  /// Returns why this store has no cells. Every other call then answers the same. Sends no request.
  [[nodiscard]] virtual std::optional<failure> refusal() const { return std::nullopt; }
  /// yes or unknown.
  virtual task<answer<reading>> get(io&, limit) = 0;
  /// Changes the cell if it still has the version `seen`. yes: the version that this change made, now or by an earlier
  /// request; no: the change was not made and never will be. After an unknown the same change may be requested again
  /// with `again` set. unknown(lost) then means that the store has forgotten: more than 64 other changes were made, or
  /// the cell ended more than a minute ago.
  virtual task<answer<std::uint64_t>> put(io&, std::uint64_t seen, change, limit) = 0;
  /// Waits until the cell may differ from `seen` (signalled), or for the limit. May be early. A change that only
  /// extends the ttl is not notified. Never relies on a message alone.
  virtual task<wake> changed(io&, reading seen, limit) = 0;
};

/// The answer to a repeated change that the store has forgotten.
[[nodiscard]] failure forgotten_change();
/// A waiter reads the cell again after about this time, without a notification.
inline constexpr milliseconds look_again = std::chrono::seconds(10);

}  // namespace holdfast::storage
