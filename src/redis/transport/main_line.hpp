#pragma once
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "redis/protocol/link.hpp"
#include "redis/protocol/slots.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/lobby.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"
#include "runtime/queue_thread.hpp"
#include "runtime/signal.hpp"

namespace holdfast::redis {

/// The connection that the loop drives: messages to our inbox, renewals, async calls, pipelined. Opened when it is
/// first needed, and again for as long as somebody needs it, with pauses that grow. A server that knows only RESP2 gets
/// a second connection, for the messages.
class main_line {
 public:
  /// An introduction is said with every connection, and every hour.
  main_line(const dialer&, const identity&, runtime::loop&, listener&);
  main_line(const main_line&) = delete;
  main_line& operator=(const main_line&) = delete;

  /// Starts the thread that connects. From any thread; throws std::system_error if that cannot start: then nothing can
  /// be renewed.
  void start() { dials_.start(); }
  [[nodiscard]] runtime::queue_thread& thread() noexcept { return dials_; }
  /// Whether the last try to connect has failed.
  [[nodiscard]] bool has_failed() const noexcept { return failed_; }
  /// Connects soon; nobody waits for it.
  void connect_soon();
  /// On the loop.
  [[nodiscard]] runtime::task<reply> call(runtime::io&, const command&, limit);
  void post(const command&);
  [[nodiscard]] std::uint64_t connection_number() const noexcept { return up_ ? connections_ : 0; }
  /// From any thread.
  [[nodiscard]] bool listens() const noexcept { return up_; }
  [[nodiscard]] runtime::task<std::optional<storage::failure>> listen(runtime::io&, limit);
  /// Of a node of a cluster, where we have an inbox in each slot: whether it is heard.
  [[nodiscard]] bool hears(std::uint16_t of_slot) const noexcept {
    return heard_.with([&](const auto& all) { return all.test(of_slot); });
  }
  /// Until it is, or the node says why not.
  [[nodiscard]] runtime::task<reply> hear(runtime::io&, std::uint16_t of_slot, limit);
  /// The same, and nobody waits for it. On the loop.
  void hear_soon(std::uint16_t of_slot);
  /// No command is sent on this connection any more; those that are due fail for this reason, and another is opened.
  void distrust(const storage::failure& why) noexcept;
  /// The same, and dials again without a pause: the server is another one now.
  void start_over(const storage::failure& why) noexcept {
    distrust(why);
    hurry_.set();
  }
  /// Ends its tasks; from another thread than the loop's. Nothing may be asked any more.
  void close() noexcept;

 private:
  struct lines {
    std::unique_ptr<connection> commands, messages;  // messages: only with RESP2
    std::optional<storage::failure> why;             // there are none
  };

  /// What a caller of another thread leaves to the loop.
  struct errand {
    runtime::signal over;
    reply got = storage::failure(errc::unreachable, "");
  };
  using slots = std::bitset<slots_of_a_cluster>;

  runtime::task<void> serve();
  runtime::task<void> flush_soon();
  void start_serving();
  runtime::task<runtime::span> serve_once();
  [[nodiscard]] bool is_silent() noexcept;
  [[nodiscard]] lines dial() const noexcept;
  void begin(lines);
  [[nodiscard]] std::optional<storage::failure> why_distrusted() const noexcept;
  void end(const storage::failure&) noexcept;
  [[nodiscard]] bool retire() noexcept;
  void fail_to_connect(const storage::failure&) noexcept;
  void queue(const command&, pending_reply*);
  void flush();
  void on_ready() noexcept;
  void on_message() noexcept;
  [[nodiscard]] bool deliver(value);
  void take_reply(value);
  [[nodiscard]] command subscription(std::uint16_t of_slot) const;
  runtime::task<void> run(std::shared_ptr<errand>, std::uint16_t of_slot, limit);
  void break_up(std::string why, bool by_silence = false) noexcept;

  const dialer& dialer_;
  const identity me_;
  runtime::loop& loop_;
  listener& listener_;
  std::stop_source ending_;
  std::atomic<bool> up_{false};
  std::atomic<bool> failed_{false};
  runtime::guarded<std::optional<storage::failure>> distrusted_;  // since it was dialled
  lobby lobby_{up_};
  runtime::signal broken_;
  runtime::guarded<slots> heard_;
  runtime::signal hurry_;

  // Of the loop.
  lines lines_;
  pipeline pipeline_;
  std::string sending_;
  runtime::instant silent_since_{};  // replies are due since then, and no part of one came
  bool writable_watched_ = false;
  std::uint64_t connections_ = 0;  // that there ever were
  slots asked_for_;                // of those that nobody waits for
  std::string why_broken_;
  bool broken_by_silence_ = false;
  milliseconds pause_{0};  // before the next try

  runtime::queue_thread dials_{"holdfast-dial"};  // of its own: a server that is silent keeps no other one waiting
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
