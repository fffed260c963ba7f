#pragma once
#include <string>

#include "redis_server.hpp"

namespace bench {

/// A lock like Redisson's: a release is published, and all waiters try again. Uses one RESP3 connection with a
/// subscription; no watchdog, no library, no limit on repeated requests.
class publish_and_retry {
 public:
  publish_and_retry(int port, const std::string& name);
  void lock();
  void unlock();

 private:
  /// Returns the next value; for an array, only its first character.
  [[nodiscard]] std::string next();
  [[nodiscard]] std::string line();
  [[nodiscard]] std::string reply(const std::string& request);

  const bare_socket socket_;
  std::string acquire_, release_;
  std::string came_;
  std::size_t read_ = 0;  // position in came_
};

}  // namespace bench
