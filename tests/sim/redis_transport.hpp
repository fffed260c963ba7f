#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/protocol/transport.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/signal.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait_list.hpp"
#include "sim/client_io.hpp"
#include "sim/network.hpp"
#include "sim/redis_connection.hpp"
#include "sim/redis_server.hpp"

namespace holdfast::sim {

/// A client's transport to the Redis server, over the simulated network. Like the product's it has an event connection,
/// which listens to the inbox and takes commands from the loop, and a pool for all other commands, so that a message
/// may overtake a reply. In some runs each command takes a random one.
class redis_transport final : public redis::transport {
 public:
  struct ends {
    world& all;
    network& between;
    std::function<redis_server*()> server;  ///< the present one; null: it cannot be reached
    client_io& loop;
    bool any_way;  ///< commands take a random connection
  };
  redis_transport(ends, std::string channel, redis::listener&);

  runtime::task<redis::reply> call(runtime::io&, const redis::command&, limit,
                                   std::optional<redis::abandoned_command>*) override;
  void follow(const redis::abandoned_command&, const redis::command&) noexcept override;
  [[nodiscard]] bool listens(const std::string&) const noexcept override { return listens_; }
  runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string& key, limit) override;
  void post(const redis::command&) override;
  [[nodiscard]] std::uint64_t connection_number() const noexcept override { return listens_ ? events_.number : 0; }

  /// Another server is the primary now: closes all connections. In the client's process.
  void start_over();
  void disturb();  ///< cuts one of its connections
  /// The process has died. The server notices it after that time.
  void crash(real noticed_after);
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }  ///< callers
  /// The event connection, if it is open and fast; else null.
  [[nodiscard]] const redis_connection* prompt_event_connection() const noexcept;
  /// Called with every message, before the listener; for checks.
  std::function<void(const std::string&)> on_message = [](const std::string&) {};

 private:
  struct waiter : runtime::list_waiter {
    std::optional<storage::failure> why;
  };
  /// One connection, and the callers whose replies are due on it.
  struct connection {
    std::shared_ptr<redis_connection> bytes;
    redis::pipeline sent;
    std::uint64_t number = 0;  // of bytes
  };
  class counted;
  static void send(connection&, const redis::command&, redis::pending_reply*);
  [[nodiscard]] connection& choose(const runtime::io&);
  runtime::task<redis::reply> call_on(runtime::io&, connection&, const redis::command&, limit,
                                      std::optional<redis::abandoned_command>*);
  [[nodiscard]] connection& at(std::size_t n) noexcept { return n == pool_.size() ? events_ : pool_[n]; }
  runtime::task<std::optional<storage::failure>> ensure_open(runtime::io&, connection&, limit);
  runtime::task<void> dial();
  [[nodiscard]] bool is_open(const connection& c) const noexcept { return c.bytes && c.bytes->is_open(); }
  [[nodiscard]] bool connect(connection&);
  void cut(connection&);
  void received(connection&, redis::value);
  void broke(connection&);
  void wake_waiters(const std::optional<storage::failure>&);

  world& world_;
  network& network_;
  const std::function<redis_server*()> server_;
  client_io& loop_;
  const bool any_way_;
  const std::string channel_;
  redis::listener& listener_;
  bool crashed_ = false;
  std::size_t waiting_ = 0;

  connection events_;
  std::vector<connection> pool_;
  bool listens_ = false;  // the event connection is open and subscribed
  bool has_listened_ = false;
  bool dialling_ = false;
  runtime::signal subscribed_;
  runtime::wait_list<waiter> waiters_;
  runtime::task_group tasks_;
};

}  // namespace holdfast::sim
