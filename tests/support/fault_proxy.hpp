#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/guarded.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::test {

/// A proxy between a client and a server, at a unix socket or a port of its own, that injects network faults.
class fault_proxy {
 public:
  enum class way { to_server, to_client };
  enum class treatment {
    pass,
    swallow,  ///< bytes are lost, without an error
    hold,     ///< bytes arrive when the treatment ends
  };

  /// `server` is the path of its socket.
  explicit fault_proxy(std::string server);
  fault_proxy(std::string server, int port);
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;
  ~fault_proxy();

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }

  void treat(way, treatment);
  /// Delays bytes.
  void delay(way, std::chrono::milliseconds);
  /// Cuts the connection that carries this byte, counted over all connections in that direction.
  void cut_after(way, std::size_t bytes);
  /// Open connections stay open but carry nothing any more; new ones work.
  void mute_those_that_are_open();
  /// New connections are accepted but carry nothing.
  void mute_new_ones();
  /// Resets all connections.
  void reset();
  /// Refuses new connections, as if the host were down.
  void refuse(bool);
  /// Ends all faults; connections that have lost bytes are cut.
  void heal();

  [[nodiscard]] std::size_t connections() const;
  /// The number of connections since the start, including closed ones.
  [[nodiscard]] std::size_t accepted() const noexcept { return accepted_; }
  /// The number of bytes received, forwarded or not.
  [[nodiscard]] std::size_t seen(way w) const noexcept { return seen_[index(w)]; }

 private:
  struct chunk {
    std::chrono::steady_clock::time_point due;
    std::string bytes;
  };
  struct pipe {
    std::vector<chunk> waiting;
    bool lost_something = false;
  };
  struct pair {
    int client = -1, server = -1;
    pipe ways[2];
    bool over = false;
    bool mute = false;
    bool client_gone = false;  // what it sent is still forwarded
  };
  struct state {
    treatment now[2] = {treatment::pass, treatment::pass};
    std::chrono::milliseconds late[2]{};
    std::size_t cut_after[2] = {~std::size_t{0}, ~std::size_t{0}};
    bool refuses = false;
    bool mutes_new_ones = false;
    std::vector<std::unique_ptr<pair>> pairs;
  };
  void begin();
  static std::size_t index(way w) noexcept { return w == way::to_server ? 0 : 1; }
  void run();
  void accept(state&);
  void read(state&, pair&, std::size_t at);
  static void pass_on(state&, pair&, std::size_t at);
  void wake_up() const;

  const std::string server_;
  temporary_folder folder_;
  const std::string socket_ = folder_.file("p");
  int listener_ = -1, wakeup_ = -1;
  std::atomic<bool> ending_{false};
  std::atomic<std::size_t> seen_[2] = {};
  std::atomic<std::size_t> accepted_{0};
  runtime::guarded<state> state_;
  std::thread thread_;
};

}  // namespace holdfast::test
