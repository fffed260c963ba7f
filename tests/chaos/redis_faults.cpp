#include "chaos/redis_faults.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "chaos/locks.hpp"
#include "support/eventually.hpp"

namespace holdfast::chaos {

using namespace std::chrono_literals;
using test::fault_proxy;
using way = fault_proxy::way;
using treatment = fault_proxy::treatment;

std::vector<fault> faults_of(fault_proxy& proxy, const std::string& part) {
  const auto heal = [&proxy] { proxy.heal(); };
  const auto one_way = [](choices& c) { return c() % 2 == 0 ? way::to_server : way::to_client; };
  const auto refuse = [&proxy](choices&) {
    proxy.refuse(true);
    proxy.reset();
  };
  return {
      {.name = "reset", .part = part, .begin = [&proxy](choices&) { proxy.reset(); }},
      {.name = "silence",
       .part = part,
       .begin = [&proxy, one_way](choices& c) { proxy.treat(one_way(c), treatment::swallow); },
       .end = heal,
       .weight = 2},
      {.name = "late",
       .part = part,
       .begin = [&proxy, one_way](choices& c) { proxy.treat(one_way(c), treatment::hold); },
       .end = heal,
       .weight = 2},
      {.name = "slow",
       .part = part,
       .begin = [&proxy, one_way](choices& c) { proxy.delay(one_way(c), std::chrono::milliseconds(c() % 100)); },
       .end = heal},
      {.name = "cut",
       .part = part,
       .begin = [&proxy, one_way](choices& c) { proxy.cut_after(one_way(c), c() % 4000); },
       .end = heal,
       .weight = 2},
      {.name = "mute", .part = part, .begin = [&proxy](choices&) { proxy.mute_those_that_are_open(); }},
      {.name = "refuse", .part = part, .begin = refuse, .end = heal},
  };
}

fault clock_steps(const test::stepped_clock& clock, const std::string& part) {
  const auto highest = std::make_shared<std::chrono::milliseconds>(0);  // how far it was ahead
  const auto step = [&clock, highest](choices& c) {
    constexpr std::chrono::milliseconds steps[] = {20ms, 300ms, 2s, 10min, 1h, -20ms, -300ms, -10min, -1h};
    const std::chrono::milliseconds ahead = *highest + steps[c() % std::size(steps)];
    *highest = std::max(*highest, ahead);
    clock.set_ahead(ahead);
  };
  // The lock of a dead process stays while the clock is behind its highest time, so the clock is set back to that.
  return {.name = "clock", .part = part, .begin = step, .end = [&clock, highest] { clock.set_ahead(*highest); }};
}

fault full_memory(test::redis_server& s, const std::string& part) {
  const auto bound = [&s](std::string_view bytes) {
    const redis::value v = s.ask({"CONFIG", "SET", "maxmemory", bytes});
    if (v.is(redis::value::kind::error)) throw std::runtime_error("redis-server: " + v.text);
  };
  return {.name = "full", .part = part, .begin = [bound](choices&) { bound("1"); }, .end = [bound] { bound("0"); }};
}

void start_again(test::redis_server& s) {
  const auto is_ready = [&s] {
    try {
      if (s.pid() < 0) s.start();
      return s.ask({"PING"}).text == "PONG";
    } catch (const std::runtime_error&) {  // another process has its port for a moment
      return false;
    }
  };
  if (!test::eventually(is_ready)) throw std::runtime_error("a server does not load its data");
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
