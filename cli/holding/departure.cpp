#include "holding/departure.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

bool knows_us(const state& s) {
  const auto is_us = [me = ::getpid()](const state::party& p) { return p.pid == me; };
  return std::any_of(s.holders.begin(), s.holders.end(), is_us) ||
         std::any_of(s.waiters.begin(), s.waiters.end(), is_us);
}

}  // namespace

void wait_until_gone_from(const store& s, const std::string& name) noexcept {
  try {
    for (const auto end = boot_clock::now() + 2s; knows_us(s.inspect(name)) && boot_clock::now() < end;) {
      std::this_thread::sleep_for(2ms);
    }
  } catch (const std::exception&) {  // see the header
  }
}

}  // namespace holdfast::cli
