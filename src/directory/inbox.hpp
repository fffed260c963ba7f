#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "directory/folder.hpp"
#include "directory/sessions.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"

namespace holdfast::directory {

/// A datagram socket in the directory, one per client. Whoever grants a lock sends the owner's id here; the loop reads
/// it, and wakes the claim that waits for it.
class inbox {
 public:
  /// Throws seam::failure. Those of sessions that are gone are removed.
  inbox(const folder&, session_id own, const std::vector<session_id>& gone, runtime::loop&);
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;
  ~inbox();

  /// A claim stands here before its first poll, and leaves before it dies.
  void add(const std::string& owner, runtime::signal&);
  void remove(const std::string& owner) noexcept;

  void wake_all();  ///< to look for themselves

  /// False: nobody is there any more. A full inbox is fine: its reader is awake anyway.
  [[nodiscard]] bool send(session_id to, const std::string& owner) const;

 private:
  void read();
  void wake(const std::string& owner);
  const folder& folder_;
  const session_id own_;
  runtime::loop& loop_;
  descriptor socket_;
  runtime::guarded<std::unordered_map<std::string, runtime::signal*>> waiting_;
};

}  // namespace holdfast::directory
