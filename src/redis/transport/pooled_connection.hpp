#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "redis/protocol/transport.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/clock.hpp"
#include "runtime/loop.hpp"
#include "runtime/small_mutex.hpp"
#include "runtime/wait_list.hpp"

namespace holdfast::redis {

/// A connection for blocking callers. A caller that finds it idle does the I/O itself. When several use it at once, one
/// of them drives: it sends all commands in one write and hands out the replies; when its own reply is there, it lets
/// another one drive.
class pooled_connection {
 public:
  /// `in_doubt` is called when the connection breaks. The loop watches it, so that this is noticed while it is idle
  /// too.
  pooled_connection(const dialer& d, runtime::loop& loop, std::function<void()> in_doubt)
      : dialer_(d), loop_(loop), in_doubt_(std::move(in_doubt)) {}
  ~pooled_connection() { hang_up(); }
  pooled_connection(const pooled_connection&) = delete;
  pooled_connection& operator=(const pooled_connection&) = delete;

  /// `abandoned` becomes the number of the connection if the command stays there without its caller, or was lost there.
  [[nodiscard]] reply call(const command&, const limit&, std::optional<std::uint64_t>& abandoned);
  /// Sends a command on the connection of that number, behind all others, unless it is closed.
  void follow(std::uint64_t connection, const command&) noexcept;

  /// Whether it has a connection that the next caller can use, as far as is known.
  [[nodiscard]] bool is_open() const noexcept;
  /// How many use it. A caller increments it before call().
  std::atomic<unsigned> callers{0};
  /// Closes the connection if it has not been used since then and is idle. Returns false if it stays open.
  bool close_if_idle_since(runtime::instant) noexcept;
  /// The next caller opens a new connection. Calls that are due on this one fail for this reason.
  void invalidate(const storage::failure& why) noexcept;

 private:
  /// A caller's wait, on its stack. It is woken when its reply is there, or when it has to drive.
  struct slot : pending_reply {
    using pending_reply::pending_reply;
    bool drives = false;
    std::optional<std::uint64_t> lost_with;  // the connection that broke after the command was sent
  };
  void queue(const command&, slot*);
  [[nodiscard]] reply drive(slot& mine, bool found_idle, const limit&, std::optional<std::uint64_t>& abandoned);
  [[nodiscard]] bool serve(const slot& mine, const limit&);
  [[nodiscard]] bool give_up(runtime::instant too_long) const;
  void replace_if_bad();
  void ensure_connected(const limit&);
  [[nodiscard]] bool still_good();
  void hang_up() noexcept;
  void hand_out();
  [[nodiscard]] std::uint64_t abandon(slot& mine, bool drove);
  void let_another_drive();
  void send_unsent() noexcept;
  void fail_all(const storage::failure&) noexcept;
  [[nodiscard]] reply no_answer() const;

  const dialer& dialer_;
  runtime::loop& loop_;
  const std::function<void()> in_doubt_;

  // Used by the caller that drives.
  std::unique_ptr<connection> connection_;
  std::string sending_;
  std::atomic<bool> open_{false};         // there is one
  std::atomic<bool> gone_{false};         // the other side has closed it
  std::atomic<std::uint64_t> number_{0};  // the number of this connection, or of the next one if it is closed

  mutable runtime::small_mutex mutex_;
  // Under the lock.
  pipeline pipeline_;  // all its waiters are slots
  bool driven_ = false;
  std::optional<storage::failure> invalid_;
  runtime::instant used_{};          // last
  runtime::instant silent_since_{};  // replies are due since then, and none came
};

}  // namespace holdfast::redis
