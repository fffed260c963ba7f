#pragma once
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "redis/protocol/slots.hpp"
#include "redis/protocol/transport.hpp"
#include "redis/transport/connect_waiters.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/queue_thread.hpp"
#include "runtime/signal.hpp"
#include "runtime/task_group.hpp"

namespace holdfast::redis {

/// The connection that the loop drives: it takes renewals and async calls, pipelined, and receives the messages for
/// this client. It connects when it is first needed, and again for as long as a caller waits for it, with pauses that
/// grow. A server that speaks only RESP2 gets a second connection, for the messages. ARCHITECTURE.md shows its states.
class event_connection {
 public:
  /// An introduction is sent on every new connection, and every hour.
  event_connection(const dialer&, const identity&, runtime::loop&, listener&);
  event_connection(const event_connection&) = delete;
  event_connection& operator=(const event_connection&) = delete;

  /// Starts the thread that connects. From any thread. Throws std::system_error if it cannot start; then nothing can be
  /// renewed.
  void start() { dial_thread_.start(); }
  [[nodiscard]] runtime::queue_thread& thread() noexcept { return dial_thread_; }

  // From any thread.
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] bool has_failed() const noexcept { return failed_; }  ///< the last attempt to connect
  /// Waits until it is open. Returns why it is not.
  [[nodiscard]] runtime::task<std::optional<storage::failure>> connect(runtime::io&, limit);
  void connect_soon();
  /// Whether messages to our inbox in this slot of a cluster reach us. A server without slots has one inbox, to which
  /// an open connection is always subscribed.
  [[nodiscard]] bool is_subscribed(std::uint16_t slot) const noexcept {
    return subscribed_.with([&](const auto& all) { return all.test(slot); });
  }
  [[nodiscard]] runtime::task<reply> subscribe(runtime::io&, std::uint16_t slot, limit);
  enum class next { after_pause, at_once };
  /// Sends no more commands on the present connection and opens another. Calls that are due fail for this reason.
  void invalidate(const storage::failure& why, next = next::after_pause) noexcept;

  // On the loop.
  [[nodiscard]] runtime::task<reply> call(runtime::io&, const command&, limit);
  void post(const command&);
  void subscribe_soon(std::uint16_t slot);
  [[nodiscard]] std::uint64_t connection_number() const noexcept { return open_ ? connections_ : 0; }

  /// Ends its tasks. From any thread but the loop's; no call may follow.
  void close() noexcept;

 private:
  struct streams {
    std::unique_ptr<connection> commands, messages;  // messages: with RESP2 only
    std::optional<storage::failure> why;             // set while there are no streams
  };
  /// A subscription that a blocking caller leaves to the loop.
  struct subscription {
    runtime::signal done;
    reply got = storage::failure(errc::unreachable, "");
  };
  using slots = std::bitset<slots_of_a_cluster>;

  void start_run();
  runtime::task<void> run();
  runtime::task<runtime::span> connect_and_serve();
  [[nodiscard]] streams dial() const noexcept;
  void open(streams);
  void fail(std::string why, bool by_silence = false) noexcept;
  void shut(const storage::failure&) noexcept;
  void report_failed_connect(const storage::failure&) noexcept;
  [[nodiscard]] bool may_end() noexcept;
  [[nodiscard]] std::optional<storage::failure> why_invalid() const noexcept;
  [[nodiscard]] bool is_silent() noexcept;

  void queue(const command&, pending_reply*);
  runtime::task<void> flush_soon();
  void flush();
  void on_ready() noexcept;
  void on_message() noexcept;
  [[nodiscard]] bool take_push(value);
  void take_reply(value);
  [[nodiscard]] command subscribe_command(std::uint16_t slot) const;
  runtime::task<void> subscribe_on_loop(std::shared_ptr<subscription>, std::uint16_t slot, limit);

  const dialer& dialer_;
  const identity me_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  std::atomic<bool> open_{false};
  std::atomic<bool> failed_{false};
  runtime::guarded<std::optional<storage::failure>> invalid_;  // since the last attempt to connect began
  connect_waiters waiters_{open_};
  runtime::signal broken_;
  runtime::guarded<slots> subscribed_;
  runtime::signal at_once_;  // ends the pause before the next attempt

  // Used on the loop only.
  streams streams_;
  pipeline pipeline_;
  std::string sending_;
  runtime::instant silent_since_{};  // replies are due since then, and no part of one came
  bool watches_writable_ = false;
  std::uint64_t connections_ = 0;  // that were ever opened
  slots requested_;                // subscriptions by subscribe_soon()
  std::string why_broken_;
  bool broken_by_silence_ = false;
  milliseconds pause_{0};  // before the next attempt

  runtime::queue_thread dial_thread_{"holdfast-dial"};  // its own: a silent server must not delay other blocking work
  runtime::task_group tasks_{loop_};
};

}  // namespace holdfast::redis
