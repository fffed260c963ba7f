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
/// that may still arrive and be carried out long after the client has closed it.
class redis_connection : public std::enable_shared_from_this<redis_connection> {
 public:
  struct callbacks {
    std::function<void(redis::value)> received;  ///< in the client's process
    std::function<void()> broke;                 ///< in the client's process; the server or the network has closed it
  };
  redis_connection(world&, network&, redis_server&, client_io& loop);
  void open(callbacks);

  void send(const std::string& bytes);
  void close();  ///< by its client
  /// The client has died. The server notices after this time, which is longer if the whole machine stopped.
  void crash(real noticed_after);
  void go_silent();  ///< the network delivers nothing any more
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// Returns whether data that is sent now arrives, and soon.
  [[nodiscard]] bool is_prompt() const noexcept;

 private:
  void receive(std::string bytes);
  void end_at_server(real when);
  void post_break();
  [[nodiscard]] real in_turn(real& last, real delay) const;

  world& world_;
  network& network_;
  redis_server& server_;
  client_io& loop_;
  redis_server::connection there_ = 0;
  callbacks callbacks_;
  redis::decoder decoder_;
  real last_up_{0}, last_down_{0};  // when the last piece arrives: later ones arrive later
  bool open_ = false;               // for its client
  bool silent_ = false;             // nothing is delivered any more
};

}  // namespace holdfast::sim
