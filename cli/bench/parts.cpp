#include "bench/parts.hpp"

#include <holdfast/holdfast.hpp>
#include <memory>
#include <stdexcept>

#include "bench/raw.hpp"
#include "bench/team.hpp"
#include "holding/departure.hpp"

namespace holdfast::cli {

namespace {

constexpr lock_options bench_lock{.label = "holdfast bench"};

/// Takes the lock and gives it back.
turn pair_of(store s, std::string name) {
  return [s, name](std::stop_token stop) mutable {
    std::optional<lease> held = s.try_acquire(name, until(std::move(stop)), bench_lock);
    if (!held) return false;
    if (held->release() == released::lost) throw lock_error(errc::lost, name, "it was lost while it was measured");
    return true;
  };
}

std::string several(unsigned threads) { return std::to_string(threads) + (threads == 1 ? " thread" : " threads"); }

}  // namespace

measurement thread_parts::raw() {
  const raw_round_trip bare = raw_round_trip_of(store_, prefix_ + "raw");
  measurement m{.part = "raw", .what = bare.what};
  const auto once = [&](unsigned) {
    return [&](const std::stop_token&) {
      bare.once();
      return true;
    };
  };
  try {
    measure_in_threads(1, once, watch_, m);
  } catch (const std::runtime_error&) {  // if the store itself is out of reach, the parts say so
    m.times = {};
  }
  return m;
}

measurement thread_parts::lock() {
  measurement m{.part = "lock", .what = "one thread: lock and unlock"};
  const std::string name = prefix_ + "lock";
  measure_in_threads(1, [&](unsigned) { return pair_of(store_, name); }, watch_, m);
  if (watch_.stopped_by() != 0) wait_until_gone_from(store_, name);
  return m;
}

measurement thread_parts::threads(unsigned n) {
  measurement m{.part = "threads", .what = several(n) + ", a name each: lock and unlock"};
  const auto name_of = [&](unsigned me) { return prefix_ + "threads/" + std::to_string(me); };
  const auto own = [&](unsigned me) { return pair_of(store_, name_of(me)); };
  measure_in_threads(n, own, watch_, m);
  for (unsigned me = 0; me < n && watch_.stopped_by() != 0; ++me) wait_until_gone_from(store_, name_of(me));
  return m;
}

measurement thread_parts::contention(unsigned n) {
  measurement m{.part = "contention", .what = several(n) + " at one name: wait, lock and unlock"};
  const std::string name = prefix_ + "contention";
  measure_in_threads(n, [&](unsigned) { return pair_of(store_, name); }, watch_, m);
  if (watch_.stopped_by() != 0) wait_until_gone_from(store_, name);
  return m;
}

measurement thread_parts::renew() {
  measurement m{.part = "renew", .what = "renewal of a lock that is held"};
  const std::string name = prefix_ + "renew";
  lease held = store_.acquire(name, bench_lock);
  const auto once = [&](unsigned) {
    return [&](const std::stop_token&) {
      if (!held.renew(bench_lock.ttl)) throw lock_error(errc::lost, name, "it was lost while it was measured");
      return true;
    };
  };
  measure_in_threads(1, once, watch_, m);
  return m;
}

}  // namespace holdfast::cli
