#pragma once
#include <string>

#include "redis/protocol/transport.hpp"
#include "redis/sentinel/sentinel_watch.hpp"
#include "redis/transport/clock_steps.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/connection_pool.hpp"
#include "redis/transport/event_connection.hpp"
#include "runtime/loop.hpp"
#include "runtime/queue_thread.hpp"

namespace holdfast::redis {

/// The transport to one server, over sockets: a pool of connections for blocking callers, the event connection for the
/// loop. While the event connection cannot connect, for example because no descriptor is left, commands of the loop use
/// an open connection of the pool.
class server_transport final : public transport {
 public:
  /// Connects when first used. Throws as dialer does.
  server_transport(settings, const identity&, runtime::loop&, listener&);

  runtime::task<reply> call(runtime::io&, const command&, limit, std::optional<abandoned_command>*) override;
  void follow(const abandoned_command& where, const command& what) noexcept override { pool_.follow(where, what); }
  [[nodiscard]] bool listens(const std::string&) const noexcept override { return events_.is_open(); }
  runtime::task<std::optional<storage::failure>> listen(runtime::io& i, const std::string&, limit l) override {
    start_watch();
    return events_.connect(i, std::move(l));
  }
  [[nodiscard]] std::uint64_t connection_number() const noexcept override { return events_.connection_number(); }
  void post(const command& what) override { events_.post(what); }
  /// For a cluster, which subscribes by slot.
  [[nodiscard]] event_connection& events() noexcept { return events_; }
  [[nodiscard]] const event_connection& events() const noexcept { return events_; }
  void close() noexcept override;

 private:
  [[nodiscard]] reply call_by_pool(const command&, const limit&, std::optional<abandoned_command>*);
  runtime::task<reply> call_on_loop(runtime::io&, const command&, limit, std::optional<abandoned_command>*);
  runtime::task<bool> connect_for_half(runtime::io&, limit);
  runtime::task<std::optional<reply>> call_by_open_connection(runtime::io&, const command&, limit,
                                                              std::optional<abandoned_command>*);
  [[nodiscard]] runtime::queue_thread& thread_for_pool();
  void start();
  void start_watch();
  void check_clock(const command&, const reply&, runtime::instant sent, runtime::instant received);
  runtime::task<void> close_idle();
  runtime::loop& loop_;
  listener& listener_;
  clock_steps clock_;
  dialer dialer_;
  connection_pool pool_;
  event_connection events_;
  std::optional<sentinel_watch> watch_;
  const std::optional<command> introduction_;
  std::atomic<bool> introduced_;        // by the pool; the event connection repeats it
  std::atomic<bool> can_renew_{false};  // the event connection has its thread
  std::atomic<bool> closes_idle_{false};
  std::atomic<bool> watches_{false};
  std::stop_source ending_;
  runtime::queue_thread pool_calls_{"holdfast-lanes"};  // for the loop, which must not block
  runtime::task_group tasks_{loop_};
};

}  // namespace holdfast::redis
