#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/finding.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/listing.hpp"
#include "holdfast/state.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"
#include "storage/break_request.hpp"

namespace holdfast::storage {

using runtime::io;
using runtime::task;

/// The operators' calls on the locks of a store, whichever client holds them. May be called from any thread. By default
/// every call is answered as unsupported, and examine() finds nothing.
class admin {
 public:
  virtual ~admin() = default;
  /// Returns who holds the name and who waits for it. Changes nothing.
  [[nodiscard]] virtual task<answer<state>> inspect(io&, std::string name, limit);
  /// Returns about `most` names that begin with `prefix` and are held or waited for, or fewer if time runs out. Goes on
  /// after what an earlier page returned. Each name comes with its state, with listing::most_holders and no waiters.
  /// unknown(bad_option): `after` is not from an earlier page.
  [[nodiscard]] virtual task<answer<listing>> list(io&, std::string prefix, std::string after, std::size_t most, limit);
  /// Asks all holders of the name to release it; with a fence, only the holder of that fence, as far as the store
  /// knows. Frees and shortens nothing. Every holder receives the request even if a message is lost; a later holder
  /// does not. no: the name is not held. Repeating the call does no harm.
  [[nodiscard]] virtual task<answer<done>> revoke(io&, std::string name, std::string reason, std::uint64_t fence,
                                                  limit);
  /// Ends the leases of the holders that the request selects, by fence and owner; for permits, by owner only. Ignores
  /// their lock delay, hands the name on like a release, notifies them, and keeps a record for a day. yes: this call,
  /// or an earlier one with the same id, has ended some; no: the request selects no holder.
  [[nodiscard]] virtual task<answer<done>> break_lock(io&, break_request, limit);
  /// Changes the number of permits of a semaphore for later acquisitions. Permits that are held stay held.
  [[nodiscard]] virtual task<answer<done>> resize(io&, std::string name, std::uint32_t whole, limit);
  /// Returns the findings of a health check, in any order. A part that may not be read is a note. Acquires and
  /// changes no lock. Each of its requests has the whole time until the limit.
  [[nodiscard]] virtual task<answer<std::vector<finding>>> examine(io&, limit);
};

}  // namespace holdfast::storage
