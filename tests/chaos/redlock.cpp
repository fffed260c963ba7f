// Redlock over three or five servers without persistence: a killed server restarts empty, and must not vote until every
// lock that it may have forgotten has expired. Also over three whose clocks are stepped: a server whose clock is set
// forwards forgets its keys, and that it has just started.
#include <memory>
#include <thread>

#include "chaos/redis_faults.hpp"

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using test::fault_proxy;

constexpr auto max_ttl = 2s;

/// A server with two proxies.
struct node {
  test::stepped_clock clock;
  test::redis_server server{{}, {}, clock.environment()};
  fault_proxy lines[2] = {fault_proxy(server.socket()), fault_proxy(server.socket())};

  [[nodiscard]] bool votes() const {
    const std::string info = server.ask({"INFO", "server"}).text;
    const std::string name = "uptime_in_seconds:";
    return std::stoll(info.substr(info.find(name) + name.size())) > max_ttl.count();
  }
};

class redlock : public topology {
 public:
  explicit redlock(std::size_t many, bool clocks_are_set = false) : clocks_are_set_(clocks_are_set) {
    for (std::size_t n = 0; n < many; ++n) nodes_.push_back(std::make_unique<node>());
    redlock::recover();
  }
  void recover() override {
    for (const auto& n : nodes_) {
      while (!n->votes()) std::this_thread::sleep_for(20ms);
    }
  }

  std::string url(unsigned client) const override {
    std::string paths;
    for (const auto& n : nodes_) paths.append(paths.empty() ? "" : ",").append(n->lines[client % 2].socket());
    return "redlock+unix://" + paths +
           "?timeout=250ms&connect_timeout=500ms&max_ttl=" + std::to_string(max_ttl.count()) + "s";
  }
  promises promised() const override { return {.exclusion = !clocks_are_set_, .fences_grow = true}; }
  bool shares() const override { return false; }
  std::string naive_sockets() const override { return nodes_[0]->lines[0].socket(); }

  std::vector<fault> faults() override {
    std::vector<fault> all;
    const std::size_t minority = nodes_.size() / 2;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      // Faults with the same part exclude each other, so at most this many servers are down at a time.
      const std::string servers = "servers " + std::to_string(n % minority);
      for (fault& f : of_the_server(nodes_[n]->server, servers)) all.push_back(std::move(f));
      if (clocks_are_set_) {
        all.push_back(clock_steps(nodes_[n]->clock, servers));
        all.back().weight = 4;
      }
      for (const std::size_t way : {0U, 1U}) {
        const std::string part = "line " + std::to_string(way) + " to " + std::to_string(n);
        for (fault& f : faults_of(nodes_[n]->lines[way], part)) all.push_back(std::move(f));
      }
    }
    return all;
  }

  std::vector<std::string> leftovers() override {
    return at_each(nodes_, [](const auto& each) { return locks_at(each->server); });
  }

 private:
  static std::vector<fault> of_the_server(test::redis_server& s, const std::string& part) {
    return {
        {.name = "kill", .part = part, .begin = [&s](choices&) { s.kill(); }, .end = [&s] { start_again(s); }},
        {.name = "standstill",
         .part = part,
         .begin = [&s](choices&) { s.stop(); },
         .end = [&s] { s.go_on(); },
         .weight = 2},
        full_memory(s, part),
        {.name = "script_flush", .part = part, .begin = [&s](choices&) { (void)s.ask({"SCRIPT", "FLUSH"}); }},
        {.name = "drop", .part = part, .begin = [&s](choices&) { (void)s.ask({"CLIENT", "KILL", "TYPE", "normal"}); }},
    };
  }

  const bool clocks_are_set_;
  std::vector<std::unique_ptr<node>> nodes_;
};

const registered over_three{"redlock_3", [] { return std::make_unique<redlock>(3); }};
const registered over_five{"redlock_5", [] { return std::make_unique<redlock>(5); }};
const registered with_clocks{"redlock_clock", [] { return std::make_unique<redlock>(3, true); }};

}  // namespace
}  // namespace holdfast::chaos
