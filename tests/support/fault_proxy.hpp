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

/// Stands between a client and a server, at a unix socket or a port of its own, and does to the bytes what networks do.
class fault_proxy {
 public:
  enum class way { to_server, to_client };
  enum class treatment {
    pass,
    swallow,  ///< they arrive nowhere, and nobody is told
    hold,     ///< they arrive when the treatment ends
  };

  /// `server` is the path of its socket.
  explicit fault_proxy(std::string server);
  fault_proxy(std::string server, int port);
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;
  ~fault_proxy();

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }

  void treat(way, treatment);
  /// Bytes arrive so much later.
  void delay(way, std::chrono::milliseconds);
  /// After so many more bytes of that way, whatever the connection, that connection is cut.
  void cut_after(way, std::size_t bytes);
  /// Those that are open stay open, and nothing passes there any more; new ones are fine.
  void mute_those_that_are_open();
  /// New connections are accepted, and nothing passes there.
  void mute_new_ones();
  /// All connections are reset.
  void reset();
  /// New connections are not accepted, as when a host is gone.
  void refuse(bool);
  /// Everything passes again; connections that have lost something are cut.
  void heal();

  [[nodiscard]] std::size_t connections() const;
  /// Since it began, those that are gone included.
  [[nodiscard]] std::size_t accepted() const noexcept { return accepted_; }
  /// Bytes that came, passed on or not.
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
    bool client_gone = false;  // what it has sent still arrives
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
