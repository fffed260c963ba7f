#pragma once
#include <string>
#include <vector>

#include "shared.hpp"

namespace bench {

/// A port that nobody uses now.
[[nodiscard]] int free_port();

/// A redis-server on a port of its own, on this machine, for as long as it lives.
class redis_server {
 public:
  /// More of its options, and the lines of a file that it may write to; none: no file.
  explicit redis_server(const std::vector<std::string>& options = {}, const std::string& configuration = {});
  void kill() { server_.end(SIGKILL); }
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
  [[nodiscard]] int fd() const noexcept { return fd_; }
  void send(const std::string& bytes) const;
  /// What has come; waits for some of it.
  [[nodiscard]] std::string receive() const;
  /// One round trip: the bytes of the reply.
  std::string ask(const std::string& request) const {
    send(request);
    return receive();
  }

 private:
  int fd_;
};

/// The bytes of a command.
[[nodiscard]] std::string resp(const std::vector<std::string>& words);

/// The sum by which a script is called from now on.
[[nodiscard]] std::string load_script(const bare_socket&, const std::string& text);

/// Our own scripts, loaded into the server: the words that take the lock of that name, and those that give it back.
struct script_pair {
  script_pair(const bare_socket&, const std::string& name);
  std::vector<std::string> acquire, release;
};

/// The text of one of our scripts, its parts put in.
[[nodiscard]] std::string script_text(const std::string& name);

}  // namespace bench
