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

/// One attempt to acquire a name from several servers that do not know each other.
struct candidate {
  std::string name;
  owner_id owner{};
  /// Differs in each attempt of an owner, so that leftovers and late replies of one never count for the next.
  std::uint32_t attempt = 0;
  milliseconds ttl{};
  std::string label{};
  std::uint64_t proposed = 0;  ///< the proposed fence: the clock of this machine, in microseconds
  bool waits = false;          ///< a voter that says no notifies us when the name is free there
  std::uint64_t since = 0;     ///< when it began to wait, by the same clock: the longest waiter is notified first
};

/// The vote of a server.
struct vote {
  static constexpr std::uint64_t fences = 64;  ///< that come with a vote
  std::uint64_t fence = 0;  ///< the first of a block above all earlier fences; 0: the vote is for another client
  std::string holder{};     ///< the same text at all voters for the same holder
  std::string label{};      ///< the holder's label
  milliseconds again{};     ///< when asking again is worthwhile without a notification
};

/// A subscription, which ends when it is destroyed. Its destruction needs no memory.
class watching {
 public:
  watching() = default;
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;
  virtual ~watching() = default;
};

/// One server of several, each with one vote: the client with the votes of a majority holds the name. There is no
/// queue.
///
/// Called on the loop only, unless it says otherwise. Limits work as for a claim. References must outlive the call.
/// There is one call at a time for each candidate.
class voter {
 public:
  virtual ~voter() = default;
  /// Returns true if the server is connected, as far as is known. May be called from any thread.
  [[nodiscard]] virtual bool is_reached() const noexcept = 0;
  /// Waits for a connection. Returns why it failed.
  virtual task<std::optional<failure>> reach(io&, limit) = 0;
  /// yes: it has voted, for us or for another client; unknown: it does not vote, or its vote is not known.
  virtual task<answer<vote>> ask(io&, const candidate&, limit) = 0;
  /// Makes its next fence higher than this block. no: its vote is not ours any more.
  virtual task<answer<done>> raise_fence(io&, const candidate&, std::uint64_t fence, limit) = 0;
  /// Keeps its vote ours for a ttl from now. no: it is not ours. Never acquires, never shortens.
  virtual task<answer<done>> renew(io&, const candidate&, milliseconds ttl, limit) = 0;
  /// Gives us its vote again for a ttl from now, if it is free. Only after a majority has renewed. unknown: also if it
  /// has done so, but its vote does not count yet.
  virtual task<answer<done>> repair(io&, const candidate&, std::uint64_t fence, milliseconds ttl, limit) = 0;
  /// Takes our vote back and notifies waiters. no: it was not ours. `leaves`: we stop waiting.
  virtual task<answer<done>> withdraw(io&, const candidate&, bool leaves, limit) = 0;
  /// Takes its vote from the given owner and notifies it. yes: also if the same call has done so before; no: that owner
  /// does not have it, or none is given.
  virtual task<answer<done>> force_release(io&, break_request, limit) = 0;
  /// Returns the same text for two names of one server, or an empty text if the server does not say.
  virtual task<answer<std::string>> identity(io&, limit) = 0;
  /// Sets the signal when the name may be free there, while the result lives. May be called from any thread.
  [[nodiscard]] virtual std::unique_ptr<watching> watch(const std::string& name, runtime::signal&) = 0;
  /// The server's address, for messages.
  [[nodiscard]] virtual std::string where() const = 0;
  /// The store on that server, for operators' calls.
  [[nodiscard]] virtual backend& behind() noexcept = 0;
};

}  // namespace holdfast::storage
