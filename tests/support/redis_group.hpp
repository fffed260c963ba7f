#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::test {

/// A primary, its replicas and the sentinels that watch them, at ports of this machine and, for the test, behind unix
/// sockets like any redis_server. After construction all know each other, and the replicas are in sync.
class redis_group {
 public:
  static constexpr const char* service = "shop-locks";
  struct shape {
    std::size_t replicas = 2;
    std::size_t sentinels = 3;
    /// A primary that does not answer for this long is replaced. The default is longer than any test, since on a busy
    /// machine a slow primary would be replaced too.
    std::chrono::milliseconds down_after{60'000};
    std::string sentinel_password{};
    std::vector<std::string> server_options{};
    std::vector<std::string> first_environment{};  ///< of the first server: "NAME=value"
  };
  redis_group() : redis_group(shape{}) {}
  explicit redis_group(const shape&);

  /// The first one is the primary at the start.
  [[nodiscard]] redis_server& server(std::size_t n) { return *servers_[n].is; }
  [[nodiscard]] redis_server& sentinel(std::size_t n) { return *sentinels_[n].is; }
  [[nodiscard]] int port_of_server(std::size_t n) const { return servers_[n].port; }
  /// Returns whether each server has a matching key.
  [[nodiscard]] bool have_all(const std::string& key) const;
  [[nodiscard]] bool is_replica(std::size_t server) const;
  /// The primary according to the first sentinel that answers.
  [[nodiscard]] std::size_t primary() const;
  /// redis+sentinel://…/service?OPTIONS. `who` is "user:password@" or empty.
  [[nodiscard]] std::string url(const std::string& options = {}, const std::string& who = {}) const;

  /// Stops replication to this replica until it is promoted. The sentinels do not notice.
  void cut_off(std::size_t replica);
  /// Waits until the sentinels replace this primary. Returns false if that hangs. On a busy machine a sentinel may
  /// notice that its timer is late and do nothing for 30 s (TILT mode); that time does not count.
  [[nodiscard]] bool is_replaced(std::size_t primary_before) const;
  /// Makes the last sentinel replace the primary, and returns when that is done.
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
