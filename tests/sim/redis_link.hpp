#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/protocol/link.hpp"
#include "redis/transport/pipeline.hpp"
#include "runtime/nursery.hpp"
#include "runtime/signal.hpp"
#include "sim/client_io.hpp"
#include "sim/network.hpp"
#include "sim/redis_line.hpp"
#include "sim/redis_server.hpp"

namespace holdfast::sim {

/// A client's link to the Redis server, over the bad network. Like the product's it has a main line, which listens to
/// the inbox and takes commands from home, and lanes, which take commands from everywhere else: a message may overtake
/// a reply. In some runs it is chance which way a command goes.
class redis_link final : public redis::link {
 public:
  struct ends {
    world& all;
    network& between;
    std::function<redis_server*()> server;  ///< which one it is now; null: it cannot be reached
    client_io& home;
    bool any_way;  ///< by chance
  };
  redis_link(ends, std::string channel, redis::listener&);

  runtime::task<redis::reply> call(runtime::io&, const redis::command&, limit,
                                   std::optional<redis::abandoned_command>*) override;
  void follow(const redis::abandoned_command&, const redis::command&) noexcept override;
  [[nodiscard]] bool listens(const std::string&) const noexcept override { return up_; }
  runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string& key, limit) override;
  void post(const redis::command&) override;
  [[nodiscard]] std::uint64_t connection_number() const noexcept override { return up_ ? main_.number : 0; }

  /// The server is another one now: gives up all connections. In the client's process.
  void start_over();
  void disturb();  ///< cuts one of its connections
  /// The process is gone. The server notices it after that time.
  void crash(real noticed_after);
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }  ///< callers
  /// The main line, while it works and is quick; else nothing.
  [[nodiscard]] const redis_line* prompt_main_line() const noexcept;
  /// Told of every message, before the listener; for checks.
  std::function<void(const std::string&)> on_message = [](const std::string&) {};

 private:
  struct visitor {
    runtime::signal called;
    std::optional<storage::failure> why;
  };
  /// A line and the callers whose replies are due on it.
  struct way {
    std::shared_ptr<redis_line> line;
    redis::pipeline sent;
    std::uint64_t number = 0;  // of the line
  };
  class counted;
  static void send(way&, const redis::command&, redis::pending_reply*);
  [[nodiscard]] way& choose(const runtime::io&);
  runtime::task<redis::reply> call_on(runtime::io&, way&, const redis::command&, limit,
                                      std::optional<redis::abandoned_command>*);
  [[nodiscard]] way& at(std::size_t n) noexcept { return n == lanes_.size() ? main_ : lanes_[n]; }
  runtime::task<std::optional<storage::failure>> make_sure_of(runtime::io&, way&, limit);
  runtime::task<void> dial();
  [[nodiscard]] bool is_open(const way& w) const noexcept { return w.line && w.line->is_open(); }
  [[nodiscard]] bool connect(way&);
  void give_up(way&);
  void came(way&, redis::value);
  void broke(way&);
  void call_visitors(const std::optional<storage::failure>&);
  void leave(const visitor&);

  world& world_;
  network& network_;
  const std::function<redis_server*()> server_;
  client_io& home_;
  const bool any_way_;
  const std::string channel_;
  redis::listener& listener_;
  bool crashed_ = false;
  std::size_t waiting_ = 0;

  way main_;
  std::vector<way> lanes_;
  bool up_ = false;  // the main line listens
  bool was_up_ = false;
  bool dialling_ = false;
  runtime::signal subscribed_;
  std::vector<visitor*> lobby_;
  runtime::nursery tasks_;
};

}  // namespace holdfast::sim
