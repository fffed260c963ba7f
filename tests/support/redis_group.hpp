#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::test {

/// A primary and its replicas, and the sentinels that watch over them: at ports of this machine, and, for the test,
/// behind unix sockets as any redis_server. When it is made all know each other, and the replicas are in step.
class redis_group {
 public:
  static constexpr const char* service = "shop-locks";
  struct shape {
    std::size_t replicas = 2;
    std::size_t sentinels = 3;
    /// After so long a primary that does not answer is replaced. By default no test lives to see it: on a busy machine
    /// one that is only slow would be replaced, too.
    std::chrono::milliseconds down_after{60'000};
    std::string sentinel_password{};
    std::vector<std::string> server_options{};
    std::vector<std::string> first_environment{};  ///< of the first server: "NAME=value"
  };
  redis_group() : redis_group(shape{}) {}
  explicit redis_group(const shape&);

  /// The first was the primary in the beginning.
  [[nodiscard]] redis_server& server(std::size_t n) { return *servers_[n].is; }
  [[nodiscard]] redis_server& sentinel(std::size_t n) { return *sentinels_[n].is; }
  [[nodiscard]] int port_of_server(std::size_t n) const { return servers_[n].port; }
  /// A key of that pattern is on each server.
  [[nodiscard]] bool have_all(const std::string& key) const;
  [[nodiscard]] bool is_replica(std::size_t server) const;
  /// Whom the first sentinel that answers calls the primary.
  [[nodiscard]] std::size_t primary() const;
  /// redis+sentinel://…/service? and more options. `who` is "user:password@", or nothing.
  [[nodiscard]] std::string url(const std::string& options = {}, const std::string& who = {}) const;

  /// Nothing that is written from now on gets to that replica, until it is the primary. It looks well to the sentinels.
  void cut_off(std::size_t replica);
  /// Waits until the sentinels replace this primary. False: it hangs. On a busy machine a sentinel can find its own
  /// timer late and do nothing for 30 s (TILT); that time does not count.
  [[nodiscard]] bool is_replaced(std::size_t primary_before) const;
  /// Lets the last sentinel change the primary, and returns when that is done.
  void fail_over();

 private:
  struct member {
    std::unique_ptr<redis_server> is;
    int port = 0;
  };
  [[nodiscard]] redis::value ask_sentinel(std::size_t n, std::vector<std::string> words) const;
  [[nodiscard]] bool is_tilted() const;
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] bool is_ready(std::size_t sentinel) const;
  const shape shape_;
  std::vector<member> servers_, sentinels_;
};

}  // namespace holdfast::test
