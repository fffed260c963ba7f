#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "directory/folder.hpp"
#include "directory/letter.hpp"
#include "directory/message.hpp"
#include "directory/sessions.hpp"
#include "runtime/fork.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::directory {

/// Where a claim waits for its message. It stands in the inbox before its first poll, and leaves before it dies.
struct addressee {
  runtime::signal called;
  runtime::guarded<std::optional<message>> granted;  ///< the last message that said so
};

/// A datagram socket in the directory, one per client. Whoever grants a lock sends a message here; the loop reads it,
/// and wakes the claim that waits for it.
class inbox {
 public:
  /// Throws storage::failure. Those of sessions that are gone are removed.
  inbox(const folder&, session_id own, const std::vector<session_id>& gone, runtime::loop&);
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  ~inbox();

  void add(const owner_bytes&, addressee&);
  void remove(const owner_bytes&) noexcept;

  void wake_all();  ///< to look for themselves
  /// Throws storage::failure(foreign) if the socket was deleted or replaced, so that no message arrives any more.
  void check() const;
  void refresh() const noexcept;  ///< sets the times of the socket to now

  /// False: nobody is there any more. A full inbox is fine: whoever reads that many messages lets all look.
  [[nodiscard]] bool send(session_id to, const message&) const;
  enum class fate { sent, full, gone };
  /// What was sent is kept by the kernel until it is read, or its reader is gone.
  [[nodiscard]] fate send(session_id to, const letter&) const;
  /// Whom the loop tells of letters.
  void report_to(std::function<void(storage::revoke_request)> whom);
  /// What the loop calls when letters may have been lost.
  void when_in_doubt(std::function<void()> verify);

 private:
  [[nodiscard]] fate put(session_id to, std::string_view bytes) const;
  void read();
  void overflowed();
  void deliver(const message&);
  void deliver(const letter&);
  const folder& folder_;
  const session_id own_;
  runtime::loop& loop_;
  const descriptor socket_;
  const runtime::closed_in_children private_{socket_.get()};
  const identity address_;
  const std::size_t room_;  // messages that the kernel keeps
  runtime::guarded<std::map<owner_bytes, addressee*>> waiting_;
  runtime::guarded<std::function<void(storage::revoke_request)>> asked_;
  runtime::guarded<std::function<void()>> doubt_;
};

}  // namespace holdfast::directory
