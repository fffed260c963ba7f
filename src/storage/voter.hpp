#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "holdfast/limit.hpp"
#include "runtime/io.hpp"
#include "runtime/signal.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"
#include "storage/break_request.hpp"
#include "storage/owner.hpp"

namespace holdfast::storage {

using runtime::io;
using runtime::task;
using std::chrono::milliseconds;

class backend;

/// One attempt to become the holder of a name, put to several servers that know nothing of one another.
struct candidate {
  std::string name;
  owner_id owner{};
  /// Each attempt of an owner has another: what is left of one, or comes late, never counts for the next.
  std::uint32_t attempt = 0;
  milliseconds ttl{};
  std::string label{};
  std::uint64_t proposed = 0;  ///< the fence it would like: the clock of this machine, in microseconds
  bool waits = false;          ///< a voter that says no tells us when the name is free there
  std::uint64_t since = 0;     ///< since when it waits, by the same clock: who waits longest is told first
};

/// How a voter has voted.
struct vote {
  static constexpr std::uint64_t fences = 64;  ///< that come with one
  std::uint64_t fence = 0;  ///< the first of a block that is higher than all before; 0: it has voted for another
  std::string holder{};     ///< for whom: the same text at all voters, if it is the same holder
  std::string label{};      ///< what that one says of itself
  milliseconds again{};     ///< when asking again is worth it, if we are not told before
};

/// Somebody who wants to be told. It ends by itself, and needs no memory for that.
class watching {
 public:
  watching() = default;
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;
  virtual ~watching() = default;
};

/// One server as one vote of several: whoever has those of a majority holds the name. It never queues anybody.
///
/// Called on the loop only, except where it says otherwise. Limits cut a wait as those of a claim. What is given by
/// reference must outlive the call. Of one candidate there is one call at a time.
class voter {
 public:
  virtual ~voter() = default;
  /// From any thread: there is a connection, as far as is known.
  [[nodiscard]] virtual bool is_reached() const noexcept = 0;
  /// Until there is one; or why there is none.
  virtual task<std::optional<failure>> reach(io&, limit) = 0;
  /// yes: it has voted, for us or for another; unknown: it does not vote, or nobody knows how.
  virtual task<answer<vote>> ask(io&, const candidate&, limit) = 0;
  /// Its next fence will be above this block. no: its vote is not ours any more.
  virtual task<answer<done>> raise_fence(io&, const candidate&, std::uint64_t fence, limit) = 0;
  /// Its vote stays ours for a ttl from now. no: it is not ours. Never creates, never shortens.
  virtual task<answer<done>> renew(io&, const candidate&, milliseconds ttl, limit) = 0;
  /// Gives us its vote again, if nobody has it, for a ttl from now: only after a majority has renewed theirs. unknown:
  /// also if it has done so, and its vote does not count yet.
  virtual task<answer<done>> repair(io&, const candidate&, std::uint64_t fence, milliseconds ttl, limit) = 0;
  /// Takes its vote back. no: it was not ours. `leaves`: we wait for it no longer; whoever waits is told.
  virtual task<answer<done>> withdraw(io&, const candidate&, bool leaves, limit) = 0;
  /// Takes its vote by force from the owner that is given, and tells that one. yes: also if this very call has done so
  /// before; no: that one does not have it, or none is given.
  virtual task<answer<done>> force_release(io&, break_request, limit) = 0;
  /// The same text for two names of one server. Empty: it does not say. unknown: there is no answer.
  virtual task<answer<std::string>> identity(io&, limit) = 0;
  /// The signal is set when the name may be free there, for as long as what is returned lives. From any thread.
  [[nodiscard]] virtual std::unique_ptr<watching> watch(const std::string& name, runtime::signal&) = 0;
  /// For texts: which server it is.
  [[nodiscard]] virtual std::string where() const = 0;
  /// The store on that server, to look at and to ask holders.
  [[nodiscard]] virtual backend& behind() noexcept = 0;
};

}  // namespace holdfast::storage
