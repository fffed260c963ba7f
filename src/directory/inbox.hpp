#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "directory/folder.hpp"
#include "directory/sessions.hpp"
#include "runtime/fork.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::directory {

using owner_bytes = std::array<char, 16>;  ///< the id of a claim

/// A message to a waiting claim: it holds the lock now. Without a fence: it has to poll again.
struct message {
  owner_bytes owner{};
  std::uint64_t fence = 0;   ///< the first of the block
  std::int64_t expires = 0;  ///< of a fixed lease, in nanoseconds on the boot clock
};
static_assert(std::is_trivially_copyable_v<message> && sizeof(message) == 32);

/// A message and the session that it is for.
struct notification {
  session_id session;
  message text;
};

/// A message to a process that holds a lock: these of its claims are asked to release it, or were broken.
struct revoke_message {
  static constexpr std::size_t most_owners = 256;
  static constexpr std::size_t longest_reason = 256;

  std::uint64_t fence = 0;  ///< only the lease with this fence is meant; 0: any
  std::string reason{};
  std::vector<owner_bytes> owners{};
  bool broken = false;

  /// Always longer than a `message`.
  [[nodiscard]] std::string packed() const;
  /// Returns an empty optional if the bytes are not a revoke_message.
  [[nodiscard]] static std::optional<revoke_message> parse(std::string_view);

  struct head {
    std::uint64_t mark;
    std::uint64_t fence;
    std::uint32_t reason;  ///< its length; the bytes follow, and then the owners
    std::uint32_t owners;
  };
  static constexpr std::size_t longest = sizeof(head) + longest_reason + most_owners * sizeof(owner_bytes);
};
static_assert(sizeof(revoke_message::head) + sizeof(owner_bytes) > sizeof(message));

class inbox;

/// Receives the messages to one claim or cell while it lives.
class receiver {
 public:
  receiver(inbox&, const owner_bytes&);
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;
  ~receiver();

  runtime::signal called;
  runtime::guarded<std::optional<message>> granted;  ///< the last message with a fence

 private:
  inbox& inbox_;
  const owner_bytes owner_;
};

/// A datagram socket in the directory, one per client. A client that grants a lock sends a message to it; the loop
/// reads the message and wakes the claim.
class inbox {
 public:
  /// Also removes the sockets of sessions that have ended. Throws storage::failure.
  inbox(const folder&, session_id own, const std::vector<session_id>& ended, runtime::loop&);
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  ~inbox();

  void wake_all();  ///< all claims poll again
  /// Throws storage::failure(foreign) if the socket was deleted or replaced, so that no message arrives any more.
  void check() const;
  void refresh() const noexcept;  ///< sets the times of the socket to now

  enum class result { sent, full, gone };
  /// The kernel keeps a message until it is read or its reader ends. The reader of a full inbox wakes all its claims.
  [[nodiscard]] result send(session_id to, const message&) const;
  [[nodiscard]] result send(session_id to, const revoke_message&) const;

  /// The loop passes the contents of revoke_messages to `reaction`.
  void when_revoked(std::function<void(storage::revoke_request)> reaction);
  /// The loop calls `reaction` when messages may have been lost.
  void when_overflowed(std::function<void()> reaction);

 private:
  friend class receiver;
  [[nodiscard]] result send(session_id to, std::string_view bytes) const;
  void read();
  void overflowed();
  void deliver(const message&);
  void deliver(const revoke_message&);
  const folder& folder_;
  const session_id own_;
  runtime::loop& loop_;
  const descriptor socket_;
  const runtime::closed_in_children private_{socket_.get()};
  const identity address_;
  const std::size_t capacity_;  // the number of messages that the kernel keeps
  runtime::guarded<std::map<owner_bytes, receiver*>> receivers_;
  runtime::guarded<std::function<void(storage::revoke_request)>> revoked_;
  runtime::guarded<std::function<void()>> overflow_;
};

}  // namespace holdfast::directory
