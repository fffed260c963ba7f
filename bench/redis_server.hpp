#pragma once
#include <string>
#include <vector>

#include "shared.hpp"

namespace bench {

/// A redis-server on a port of its own, on this machine, for as long as it lives.
class redis_server {
 public:
  redis_server();
  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  folder folder_;
  const int port_;
  process server_;
};

/// A blocking socket to the server, and nothing else: what a lock costs without a library.
class bare_socket {
 public:
  explicit bare_socket(int port);
  bare_socket(const bare_socket&) = delete;
  bare_socket& operator=(const bare_socket&) = delete;
  ~bare_socket();
  /// One round trip: the bytes of the reply.
  std::string ask(const std::string& request);

 private:
  int fd_;
};

/// The bytes of a command.
[[nodiscard]] std::string resp(const std::vector<std::string>& words);

/// Our own scripts, loaded into the server: the request that takes the lock of that name, and the one that gives it
/// back.
struct script_pair {
  script_pair(bare_socket&, const std::string& name);
  std::string acquire, release;
};

/// The text of one of our scripts, its parts put in.
[[nodiscard]] std::string script_text(const std::string& name);

}  // namespace bench
