#include "core/countdown.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/back_off.hpp"

namespace holdfast::core {

using runtime::later;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::failure;
using storage::reading;

namespace {

/// How many are left. The note has the number that the other clients expect.
answer<std::uint64_t> remaining_in(const reading& is, const countdown& what) {
  if (!is.there) return answer<std::uint64_t>::yes(what.expected);
  if (is.note == std::to_string(what.expected) && is.number <= what.expected)
    return answer<std::uint64_t>::yes(is.number);
  return answer<std::uint64_t>::unknown(failure(
      errc::foreign, "the name is in use as a latch of " + is.note + ", not of " + std::to_string(what.expected)));
}

failure below_zero(std::uint64_t left, std::uint64_t n) {
  return failure(errc::bad_option, "to count down by " + std::to_string(n) + ", when " + std::to_string(left) +
                                       " are left; nothing was counted");
}

}  // namespace

task<answer<done>> count_down(io& i, reliable_cell& cell, countdown what, std::uint64_t n) {
  for (unsigned tries = 0;; ++tries) {
    answer<reading> is = co_await cell.look(i, limit(runtime::never));
    if (is.is_unknown()) co_return answer<done>::unknown(std::move(is.why()));
    answer<std::uint64_t> left = remaining_in(is.value(), what);
    if (left.is_unknown()) co_return answer<done>::unknown(std::move(left.why()));
    if (n > left.value()) co_return answer<done>::unknown(below_zero(left.value(), n));
    storage::change wanted{.number = left.value() - n, .note = std::to_string(what.expected), .ttl = what.ttl};
    wanted.id = {i.random(), i.random()};
    answer<std::uint64_t> counted = co_await cell.put(i, is.value().version, wanted, limit(runtime::never));
    if (counted.is_yes()) co_return answer<done>::yes(done());
    if (counted.is_unknown()) co_return answer<done>::unknown(std::move(counted.why()));
    // Another client has counted meanwhile. A random pause spreads clients that count at once.
    limit pause(later(i.now(), back_off(i, std::min(tries, 3u))));
    co_await sleep(i, std::move(pause));
  }
}

task<answer<done>> wait_for_zero(io& i, reliable_cell& cell, countdown what, limit l) {
  const bool one_look = l.at() <= i.now();
  for (bool looked = false;; looked = true) {
    if (l.stop().stop_requested() || (looked && i.now() >= l.at())) co_return answer<done>::no();
    answer<reading> is = co_await cell.look(i, l);
    if (is.is_unknown()) {
      // The limit has ended while a store that had just answered was asked again.
      const bool as_good_as_no = looked && !is.why().permanent() && i.now() >= l.at();
      if (as_good_as_no || l.stop().stop_requested()) co_return answer<done>::no();
      co_return answer<done>::unknown(std::move(is.why()));
    }
    answer<std::uint64_t> left = remaining_in(is.value(), what);
    if (left.is_unknown()) co_return answer<done>::unknown(std::move(left.why()));
    if (left.value() == 0) co_return answer<done>::yes(done());
    if (one_look) co_return answer<done>::no();
    const wake why = co_await cell.changed(i, is.value(), l);
    if (why != wake::signalled) co_return answer<done>::no();
  }
}

}  // namespace holdfast::core
