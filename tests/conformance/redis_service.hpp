#pragma once
#include <string>

#include "conformance/connection.hpp"
#include "conformance/suite.hpp"
#include "support/fault_proxy.hpp"
#include "support/redis_server.hpp"

namespace holdfast::conformance {

/// A real server behind a proxy that can lose messages.
class redis_service : public service {
 public:
  static constexpr guarantees promised{
      .by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};

  void fall_silent() override {
    proxy_.treat(test::fault_proxy::way::to_server, test::fault_proxy::treatment::swallow);
  }
  void lose_replies() override {
    proxy_.treat(test::fault_proxy::way::to_client, test::fault_proxy::treatment::swallow);
  }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void lose_state() override { (void)server_.ask({"FLUSHALL"}); }
  void heal() override {
    proxy_.heal();
    cut_replies(0);
  }
  std::size_t names_left() override { return names_left_at(server_); }
  /// The last fence of a name stays for a day, and so does the record of a client; cells stay as long as they say.
  static std::size_t names_left_at(const test::redis_server& server) {
    std::size_t left = server.keys("*").size();
    for (const char* stays : {"*:f", "*:a", "*:b", "*:client:*", "*:n", "*:w"}) left -= server.keys(stays).size();
    return left;
  }

 protected:
  /// Returns the URL of the proxy, with an optional "user:password@" before the path.
  [[nodiscard]] std::string url(const std::string& who = {}) const {
    return "redis+unix://" + who + proxy_.socket() + "?timeout=1s";
  }

  test::redis_server server_;
  connections clients_;

 private:
  test::fault_proxy proxy_{server_.socket()};
};

}  // namespace holdfast::conformance
