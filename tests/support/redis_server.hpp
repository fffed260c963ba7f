#pragma once
#include <sys/types.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/value.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::test {

/// A redis-server in a folder of its own, behind a unix socket, until the end of the scope. VALKEY_SERVER or
/// REDIS_SERVER in the environment selects another program.
class redis_server {
 public:
  /// More arguments; lines of a configuration file, which a sentinel must have; and "NAME=value" to add to the
  /// environment.
  explicit redis_server(std::vector<std::string> options = {}, std::string configuration = {},
                        std::vector<std::string> environment = {});
  redis_server(const redis_server&) = delete;
  redis_server& operator=(const redis_server&) = delete;
  ~redis_server();

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }
  /// "redis+unix:///path?OPTIONS".
  [[nodiscard]] std::string url(const std::string& options = {}) const;
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// Sends a command on a new connection. Throws std::runtime_error if there is no reply; errors are values.
  redis::value ask(std::initializer_list<std::string_view> words) const;
  redis::value ask(const std::vector<std::string>& words, const std::string& password = {}) const;
  /// The keys that match.
  [[nodiscard]] std::vector<std::string> keys(const std::string& pattern = "*") const;

  void stop() const;  ///< SIGSTOP
  void go_on() const;
  void kill();   ///< SIGKILL
  void start();  ///< restarts it with the same options and folder
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  temporary_folder folder_;
  const std::string socket_ = folder_.file("s");
  const std::vector<std::string> options_;
  const std::string configuration_;
  const std::vector<std::string> environment_;
  pid_t pid_ = -1;
};

/// A port that is free now.
[[nodiscard]] int free_port();

}  // namespace holdfast::test
