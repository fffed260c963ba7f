#pragma once
#include <string>

#include "redis_server.hpp"

namespace bench {

/// A lock as Redisson keeps it: whoever releases it publishes that, and all who wait try again. One connection with
/// RESP3, subscribed from the beginning; no library, no watchdog, no latch against repeated requests.
class publish_and_retry {
 public:
  publish_and_retry(int port, const std::string& name);
  void lock();
  void unlock();

 private:
  /// The next value; of a list its first character only.
  [[nodiscard]] std::string next();
  [[nodiscard]] std::string line();
  [[nodiscard]] std::string reply(const std::string& request);

  const bare_socket socket_;
  std::string acquire_, release_;
  std::string came_;
  std::size_t read_ = 0;  // of came_
};

}  // namespace bench
