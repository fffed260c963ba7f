#include "publish_and_retry.hpp"

#include <stdexcept>

namespace bench {

namespace {

constexpr const char* acquire_script = R"(
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return nil
end
return redis.call('PTTL', KEYS[1]))";

constexpr const char* release_script = R"(
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return nil end
if redis.call('HINCRBY', KEYS[1], ARGV[2], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1)";

constexpr const char* ttl = "30000";

}  // namespace

publish_and_retry::publish_and_retry(int port, const std::string& name) : socket_(port) {
  const std::string channel = "redisson_lock__channel:{" + name + "}";
  const std::string me = "b9f0a5e6-0000-4000-8000-000000000000:" + std::to_string(::getpid());
  acquire_ = resp({"EVALSHA", load_script(socket_, acquire_script), "1", name, ttl, me});
  release_ = resp({"EVALSHA", load_script(socket_, release_script), "2", name, channel, ttl, me});
  (void)reply(resp({"HELLO", "3"}));
  socket_.send(resp({"SUBSCRIBE", channel}));
  if (next() != ">") throw std::runtime_error("SUBSCRIBE");
}

void publish_and_retry::lock() {
  while (reply(acquire_) != "_") {
    while (next() != ">") {
    }
  }
}

void publish_and_retry::unlock() {
  if (reply(release_) != ":1") throw std::runtime_error("not the holder");
}

/// Skips messages that arrived before the request.
std::string publish_and_retry::reply(const std::string& request) {
  socket_.send(request);
  std::string said = next();
  while (said == ">") said = next();
  if (said.starts_with('-')) throw std::runtime_error(said);
  return said;
}

std::string publish_and_retry::next() {
  std::string said = line();
  switch (said[0]) {
    case '$': return line();
    case '%':
    case '*':
    case '>': {
      const int items = std::stoi(said.substr(1)) * (said[0] == '%' ? 2 : 1);
      for (int n = 0; n < items; ++n) (void)next();
      return said.substr(0, 1);
    }
    default: return said;
  }
}

std::string publish_and_retry::line() {
  std::size_t end = came_.find("\r\n", read_);
  while (end == std::string::npos) {
    came_.erase(0, read_);
    read_ = 0;
    came_ += socket_.receive();
    end = came_.find("\r\n");
  }
  std::string said = came_.substr(read_, end - read_);
  read_ = end + 2;
  return said;
}

}  // namespace bench
