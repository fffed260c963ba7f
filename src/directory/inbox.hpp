#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "directory/folder.hpp"
#include "directory/message.hpp"
#include "directory/sessions.hpp"
#include "runtime/fork.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"

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
  /// Throws seam::failure. Those of sessions that are gone are removed.
  inbox(const folder&, session_id own, const std::vector<session_id>& gone, runtime::loop&);
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  ~inbox();

  void add(const owner_bytes&, addressee&);
  void remove(const owner_bytes&) noexcept;

  void wake_all();  ///< to look for themselves

  /// False: nobody is there any more. A full inbox is fine: whoever reads that many messages lets all look.
  [[nodiscard]] bool send(session_id to, const message&) const;

 private:
  void read();
  void deliver(const message&);
  const folder& folder_;
  const session_id own_;
  runtime::loop& loop_;
  const descriptor socket_;
  const runtime::closed_in_children private_{socket_.get()};
  const std::size_t room_;  // messages that the kernel keeps
  runtime::guarded<std::map<owner_bytes, addressee*>> waiting_;
};

}  // namespace holdfast::directory
