#include "chaos/redis_faults.hpp"

#include <stdexcept>

#include "chaos/locks.hpp"
#include "support/eventually.hpp"

namespace holdfast::chaos {

using test::fault_proxy;
using way = fault_proxy::way;
using treatment = fault_proxy::treatment;

std::vector<fault> faults_of(fault_proxy& line, const std::string& part) {
  const auto heal = [&line] { line.heal(); };
  const auto one_way = [](choices& c) { return c() % 2 == 0 ? way::to_server : way::to_client; };
  const auto refuse = [&line](choices&) {
    line.refuse(true);
    line.reset();
  };
  return {
      {.name = "reset", .part = part, .begin = [&line](choices&) { line.reset(); }},
      {.name = "silence",
       .part = part,
       .begin = [&line, one_way](choices& c) { line.treat(one_way(c), treatment::swallow); },
       .end = heal,
       .weight = 2},
      {.name = "late",
       .part = part,
       .begin = [&line, one_way](choices& c) { line.treat(one_way(c), treatment::hold); },
       .end = heal,
       .weight = 2},
      {.name = "slow",
       .part = part,
       .begin = [&line, one_way](choices& c) { line.delay(one_way(c), std::chrono::milliseconds(c() % 100)); },
       .end = heal},
      {.name = "cut",
       .part = part,
       .begin = [&line, one_way](choices& c) { line.cut_after(one_way(c), c() % 4000); },
       .end = heal,
       .weight = 2},
      {.name = "mute", .part = part, .begin = [&line](choices&) { line.mute_those_that_are_open(); }},
      {.name = "refuse", .part = part, .begin = refuse, .end = heal},
  };
}

void start_again(test::redis_server& s) {
  s.start();
  const auto is_ready = [&s] { return s.ask({"PING"}).text == "PONG"; };
  if (!test::eventually(is_ready)) throw std::runtime_error("a server does not read its data");
}

std::vector<std::string> locks_at(const test::redis_server& s) {
  std::vector<std::string> found;
  for (const lock& l : locks) {
    for (const std::string tail : {"", ":q"}) {
      for (std::string& key : s.keys("*{" + std::string(l.name) + "}" + tail)) found.push_back(std::move(key));
    }
  }
  return found;
}

}  // namespace holdfast::chaos
