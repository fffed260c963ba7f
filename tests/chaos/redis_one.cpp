// One Redis server: with its data on disk, without persistence, or with a clock that is stepped.
#include <stdexcept>

#include "chaos/redis_faults.hpp"
#include "chaos/topology.hpp"

namespace holdfast::chaos {
namespace {

using test::fault_proxy;

/// What the faults may do to locks: nothing, forget them, or end them early.
enum class habit { keeps, forgets, is_set };

class one_server : public topology {
 public:
  explicit one_server(habit h) : habit_(h) {}

  std::string url(unsigned client) const override {
    return "redis+unix://" + lines_[client % 2].socket() + "?timeout=250ms&connect_timeout=500ms";
  }
  promises promised() const override { return {.exclusion = habit_ == habit::keeps, .fences_grow = true}; }
  std::string naive_sockets() const override { return lines_[0].socket(); }

  std::vector<fault> faults() override {
    std::vector<fault> all = of_the_server();
    all.push_back(full_memory(server_, "server"));
    for (const unsigned n : {0U, 1U}) {
      for (fault& f : faults_of(lines_[n], "line " + std::to_string(n))) all.push_back(std::move(f));
    }
    if (habit_ == habit::forgets) {
      all.push_back({.name = "flushall", .part = "server", .begin = [this](choices&) { ask({"FLUSHALL"}); }});
    }
    if (habit_ == habit::is_set) {
      all.push_back(clock_steps(clock_, "server"));
      all.back().weight = 4;
    }
    return all;
  }

  std::vector<std::string> leftovers() override { return locks_at(server_); }

 private:
  [[nodiscard]] std::vector<std::string> options() const {
    if (habit_ == habit::forgets) return {"--enable-debug-command", "yes"};
    return {"--enable-debug-command", "yes", "--appendonly", "yes", "--appendfsync", "always"};
  }

  std::vector<fault> of_the_server() {
    return {
        {.name = "kill",
         .part = "server",
         .begin = [this](choices&) { server_.kill(); },
         .end = [this] { start_again(server_); }},
        {.name = "standstill",
         .part = "server",
         .begin = [this](choices&) { server_.stop(); },
         .end = [this] { server_.go_on(); },
         .weight = 2},
        {.name = "script_flush", .part = "server", .begin = [this](choices&) { ask({"SCRIPT", "FLUSH"}); }},
        {.name = "drop", .part = "server", .begin = [this](choices&) { ask({"CLIENT", "KILL", "TYPE", "normal"}); }},
        {.name = "drop_pushes",
         .part = "server",
         .begin = [this](choices&) { ask({"CLIENT", "KILL", "TYPE", "pubsub"}); }},
        {.name = "busy", .part = "server", .begin = [this](choices&) { ask({"DEBUG", "SLEEP", "0.1"}); }},
    };
  }

  void ask(std::initializer_list<std::string_view> words) {
    const redis::value v = server_.ask(words);
    if (v.is(redis::value::kind::error)) throw std::runtime_error("redis-server: " + v.text);
  }

  const habit habit_;
  test::stepped_clock clock_;
  test::redis_server server_{options(), {}, clock_.environment()};
  fault_proxy lines_[2] = {fault_proxy(server_.socket()), fault_proxy(server_.socket())};
};

const registered durable{"redis_durable", [] { return std::make_unique<one_server>(habit::keeps); }};
const registered empty{"redis_empty", [] { return std::make_unique<one_server>(habit::forgets); }};
const registered clock_is_set{"redis_clock", [] { return std::make_unique<one_server>(habit::is_set); }};

}  // namespace
}  // namespace holdfast::chaos
