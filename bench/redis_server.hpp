#pragma once
#include <string>
#include <vector>

#include "shared.hpp"

namespace bench {

/// Returns a free port.
[[nodiscard]] int free_port();

/// A redis-server on its own port of this machine.
class redis_server {
 public:
  /// Takes further options, and the content of a configuration file; empty: no file.
  explicit redis_server(const std::vector<std::string>& options = {}, const std::string& configuration = {});
  void kill() { server_.end(SIGKILL); }
  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  folder folder_;
  const int port_;
  process server_;
};

/// A blocking socket to the server: the baseline without a library.
class bare_socket {
 public:
  explicit bare_socket(int port);
  bare_socket(const bare_socket&) = delete;
  bare_socket& operator=(const bare_socket&) = delete;
  ~bare_socket();
  [[nodiscard]] int fd() const noexcept { return fd_; }
  void send(const std::string& bytes) const;
  /// Waits for input and returns it.
  [[nodiscard]] std::string receive() const;
  /// Sends a request and returns the bytes of the reply.
  std::string ask(const std::string& request) const {
    send(request);
    return receive();
  }

 private:
  int fd_;
};

/// Encodes a command.
[[nodiscard]] std::string resp(const std::vector<std::string>& words);

/// Loads the script and returns its digest.
[[nodiscard]] std::string load_script(const bare_socket&, const std::string& text);

/// Our scripts, loaded into the server: the commands that acquire and release the lock of a name.
struct script_pair {
  script_pair(const bare_socket&, const std::string& name);
  std::vector<std::string> acquire, release;
};

/// Returns the text of one of our scripts with its includes.
[[nodiscard]] std::string script_text(const std::string& name);

}  // namespace bench
