#pragma once
#include <functional>
#include <memory>
#include <string>

#include "redis/protocol/codec.hpp"
#include "sim/client_io.hpp"
#include "sim/network.hpp"
#include "sim/redis_server.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// One connection of a client to the Redis server: bytes in order, in pieces, until it breaks. What was sent before
/// that may still arrive, and be carried out, when the client has long given the connection up.
class redis_line : public std::enable_shared_from_this<redis_line> {
 public:
  struct ears {
    std::function<void(redis::value)> came;  ///< in the client's process
    std::function<void()> broke;             ///< the same; the server or the network has ended it
  };
  redis_line(world&, network&, redis_server&, client_io& home);
  void open(ears);

  void send(const std::string& bytes);
  void close();  ///< by its client
  /// The client is gone. The server hears of it now, or, if the machine stands still, in a while.
  void crash(real noticed_after);
  void go_silent();  ///< the network lets nothing through any more
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// What is sent now arrives, and soon.
  [[nodiscard]] bool is_prompt() const noexcept;

 private:
  void receive(std::string bytes);
  void end_at_server(real when);
  void post_break();
  [[nodiscard]] real in_turn(real& last, real delay) const;

  world& world_;
  network& network_;
  redis_server& server_;
  client_io& home_;
  redis_server::connection there_ = 0;
  ears ears_;
  redis::decoder decoder_;
  real last_up_{0}, last_down_{0};  // what is sent later arrives later
  bool open_ = false;               // for its client
  bool silent_ = false;             // nothing gets through any more
};

}  // namespace holdfast::sim
