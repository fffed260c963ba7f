// A primary, two replicas and three sentinels. The primary is replaced by command, and by the sentinels when it does
// not answer. An old primary that restarts empty accepts writes until it becomes a replica, and writes that were not
// replicated are lost. There are two topologies: the defaults, and one where grants wait for both replicas and no
// server accepts writes without a replica.
#include <stdexcept>
#include <string>
#include <thread>

#include "chaos/redis_faults.hpp"
#include "support/redis_group.hpp"

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t replica_count = 2, sentinel_count = 3;

enum class care { none, for_replicas };

class watched_primary : public topology {
 public:
  explicit watched_primary(care c) : care_(c) {}

  std::string url(unsigned) const override {
    const std::string wait = care_ == care::none ? "" : "&wait_replicas=all&wait_timeout=200ms";
    return group_.url("timeout=250ms&connect_timeout=500ms" + wait);
  }
  promises promised() const override { return {.exclusion = false, .fences_grow = true}; }
  std::string naive_sockets() const override {
    std::string all = group_.server(0).socket();
    for (std::size_t n = 1; n <= replica_count; ++n) all += "," + group_.server(n).socket();
    return all;
  }

  std::vector<fault> faults() override {
    const std::string part = "group";
    std::vector<fault> all = {
        {.name = "kill",
         .part = part,
         .begin = [this](choices&) { of_primary([](test::redis_server& s) { s.kill(); }); },
         .end = [this] { start_again(*victim_); },
         .longest = 4s},
        {.name = "standstill",
         .part = part,
         .begin = [this](choices&) { of_primary([](test::redis_server& s) { s.stop(); }); },
         .end = [this] { victim_->go_on(); },
         .weight = 2,
         .longest = 3s},
        {.name = "drop", .part = part, .begin = [this](choices&) { of_primary(drop_all); }},
        {.name = "failover",
         .part = part,
         .begin =
             [this](choices& c) {  // refused during a failover
               (void)group_.sentinel(c() % sentinel_count).ask({"SENTINEL", "FAILOVER", test::redis_group::service});
             },
         .end = [] {},
         .weight = 2,
         .longest = 2s},
    };
    for (std::size_t n = 0; n < sentinel_count; ++n) {
      test::redis_server& s = group_.sentinel(n);
      all.push_back(
          {.name = "sentinel", .part = part, .begin = [&s](choices&) { s.kill(); }, .end = [&s] { s.start(); }});
    }
    return all;
  }

  /// True if all servers follow one primary, which all sentinels name.
  void recover() override {
    while (!is_well()) std::this_thread::sleep_for(20ms);
  }

  std::vector<std::string> leftovers() override { return locks_at(group_.server(group_.primary())); }

 private:
  static void drop_all(test::redis_server& s) {
    try {
      (void)s.ask({"CLIENT", "KILL", "TYPE", "normal"});
    } catch (const std::runtime_error&) {  // a sentinel has just dropped all connections
    }
  }

  template <class F>
  void of_primary(F what) {
    victim_ = &group_.server(group_.primary());
    what(*victim_);
  }

  [[nodiscard]] bool is_well() {
    try {
      return all_agree();
    } catch (const std::runtime_error&) {  // a sentinel that changes the role of a server closes all connections to it
      return false;
    }
  }

  [[nodiscard]] bool all_agree() {
    const std::string master = "role:master", followed = "connected_slaves:" + std::to_string(replica_count);
    const std::size_t primary = group_.primary();
    for (std::size_t n = 0; n <= replica_count; ++n) {
      const std::string info = group_.server(n).ask({"INFO", "replication"}).text;
      const std::string what = n == primary ? followed : "master_link_status:up";
      if ((info.find(master) != std::string::npos) != (n == primary) || info.find(what) == std::string::npos)
        return false;
    }
    const std::string port = std::to_string(group_.port_of_server(primary));
    for (std::size_t n = 0; n < sentinel_count; ++n) {
      const redis::value at =
          group_.sentinel(n).ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", test::redis_group::service});
      if (at.items.size() != 2 || at.items[1].text != port) return false;
    }
    return true;
  }

  static std::vector<std::string> options(care c) {
    if (c == care::none) return {};
    return {"--min-replicas-to-write", "1", "--min-replicas-max-lag", "2"};
  }

  const care care_;
  mutable test::redis_group group_{
      {.replicas = replica_count, .sentinels = sentinel_count, .down_after = 1s, .server_options = options(care_)}};
  test::redis_server* victim_ = nullptr;
};

const registered watched{"redis_sentinel", [] { return std::make_unique<watched_primary>(care::none); }};
const registered waited_for{"redis_sentinel_wait",
                            [] { return std::make_unique<watched_primary>(care::for_replicas); }};

}  // namespace
}  // namespace holdfast::chaos
