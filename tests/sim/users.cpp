#include "sim/users.hpp"

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace holdfast::sim {

using namespace std::chrono_literals;
using core::lease_state;
using core::outcome;
using runtime::later;
using runtime::span;
using runtime::task;
using std::chrono::milliseconds;
using storage::share;

namespace {

constexpr const char* semaphore = "permits/0";

std::string lock_name(std::uint64_t n) { return "lock/" + std::to_string(n); }

}  // namespace

users::wish users::any_wish() {
  if (plan_.permits != 0 && world_.chance(0.5)) {
    // Never more than there may be: that would wait for ever. Some are wrong about the whole, and are turned away.
    const auto some = 1 + static_cast<std::uint32_t>(world_.below(plan_.permits));
    return {semaphore, share::permits(some, world_.chance(0.9) ? permits_ : plan_.more_permits)};
  }
  const std::uint64_t first = world_.below(plan_.names);
  wish any{lock_name(first), world_.chance(plan_.readers) ? share::reader() : share()};
  if (plan_.several && world_.chance(0.4)) {
    for (std::uint64_t n = 1; n < plan_.names; ++n) any.others.push_back(lock_name((first + n) % plan_.names));
  }
  return any;
}

milliseconds users::any_ttl() {
  const std::vector<milliseconds>& ttls = service_.ttls();
  return ttls[world_.below(ttls.size())];
}

task<void> users::live(client& c, std::uint64_t operations) {
  const milliseconds usual_ttl = any_ttl();
  for (std::uint64_t n = 0; n < operations && !c.crashed; ++n) {
    co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 60ms))));
    const bool other_size = plan_.more_permits != plan_.permits && world_.chance(0.05);
    if (other_size) co_await resize(c);
    const bool asks_others = world_.chance(0.05);
    if (asks_others) co_await revoke(c);
    const bool takes_by_force = plan_.breaks && world_.chance(0.15);
    if (takes_by_force) co_await break_lock(c);
    const wish what = any_wish();
    const core::terms on{.wants = what.part,
                         .ttl = world_.chance(0.8) ? usual_ttl : any_ttl(),
                         .renew = world_.chance(0.85),
                         .max_hold = world_.chance(0.1) ? any_ttl() * 2 : 0ms,
                         .delay = plan_.delays && world_.chance(0.3) ? any_ttl() / 2 : 0ms,
                         .fair = !plan_.unfair || what.part != share() || !what.others.empty() || world_.chance(0.5)};
    const bool one_look = world_.chance(0.15);
    const bool limited = world_.chance(0.6);
    const span longest_wait = limited ? world_.between(1ms, 600ms) : span(30s);
    std::stop_source stop;
    if (world_.chance(0.15)) {
      world_.in(world_.between(0ms, 200ms), [stop]() mutable { stop.request_stop(); });
    }
    const bool over_already = one_look && !limited;  // as of try_lock(): it has the store's patience
    const instant at = over_already ? c.io.now() : later(c.io.now(), longest_wait);
    core::request wanted(what.name, on, limit(at, stop.get_token()), one_look);
    wanted.others = what.others;
    wanted.bounded = !over_already;
    const real asked = world_.now();
    const instant last = over_already ? later(c.io.now(), patience) : at;
    outcome got = co_await c.engine.acquire(c.io, std::move(wanted));
    ++result_.operations;
    world_.note("outcome", static_cast<std::uint64_t>(got.what), got.lease ? got.lease->fence() : 0);
    const bool ran = c.io.running_since() + 1ms < asked;
    if (ran && c.io.now() > later(last, 15ms)) world_.violate("I7: a caller came back after its limit");
    const bool in_vain = got.what == outcome::kind::busy && !one_look && !limited && !c.crashed;
    if (in_vain) world_.violate("I7: a caller waited in vain, much longer than others hold");
    if (got.why) world_.tell("  failed: " + got.why->text);
    const bool had_time = longest_wait > 50ms;  // for an answer
    if (plan_.quiet && (got.what == outcome::kind::failed || (had_time && got.why))) {
      world_.violate("I7: a call failed though nothing was wrong");
    }
    std::vector<std::string> names = what.others;
    names.push_back(what.name);
    if (got.what == outcome::kind::granted && !c.crashed)
      co_await hold(c, std::move(got.lease), std::move(names), asked);
  }
}

task<void> users::resize(client& c) {
  permits_ = permits_ == plan_.permits ? plan_.more_permits : plan_.permits;
  const limit until(later(c.io.now(), 1s));
  ++result_.operations;
  const storage::answer<storage::done> done = co_await c.engine.resize(c.io, semaphore, permits_, until);
  world_.note("resized", done.is_yes() ? 1 : 0);
}

task<void> users::revoke(client& c) {
  const wish what = any_wish();
  const limit until(later(c.io.now(), 1s));
  ++result_.operations;
  const storage::answer<storage::done> done = co_await c.engine.revoke(c.io, what.name, "please", 0, until);
  world_.note("asked", done.is_yes() ? 1 : 0);
}

/// By what it saw of a holder, who may be gone by now.
task<void> users::break_lock(client& c) {
  const std::string name = any_wish().name;
  const auto at = last_seen_.find(name);
  if (at == last_seen_.end()) co_return;
  storage::break_request what{.name = name, .fence = at->second.fence, .owner = std::nullopt, .reason = "it hangs"};
  if (name == semaphore || world_.chance(0.1)) what.owner = at->second.owner;
  const limit until(later(c.io.now(), 1s));
  const bool all_of_them = !what.owner;  // else readers beside it stay, and others join them with the same fence
  const std::uint64_t fence = what.fence;
  ++result_.operations;
  const storage::answer<storage::done> done = co_await c.engine.break_lock(c.io, std::move(what), until);
  world_.note("broken", done.is_yes() ? 1 : 0);
  if (done.is_yes() && all_of_them) broken_[name].push_back({world_.now(), fence});
}

/// I3: a client that acquires a broken lock has a higher fence than the holder that lost it.
void users::check_fence_after_breaks(const checker::watched& mine, real asked) {
  if (!mine.part().of_a_lock()) return;
  for (const broken& each : broken_[mine.name()]) {
    if (each.when < asked && mine.fence() <= each.fence) {
      world_.violate("I3: " + mine.name() + " was broken, and the fence of a later holder is no higher");
    }
  }
}

task<void> users::hold(client& c, std::shared_ptr<lease_state> lease, std::vector<std::string> names, real asked) {
  ++result_.granted;
  std::vector<checker::watched*> all;
  for (const std::string& name : names) {
    all.push_back(&checker_.watch(lease, name, c.io));
    check_fence_after_breaks(*all.back(), asked);
    last_seen_[name] = {all.back()->fence(), lease->of()->owner};
  }
  const instant end = later(c.io.now(), world_.chance(0.5) ? world_.between(0ms, 10ms) : world_.between(0ms, 500ms));
  while (c.io.now() < end && lease->held(c.io.now())) {
    co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 30ms))));
    if (c.crashed) co_return;
    const std::uint64_t what = world_.below(10);
    checker::watched& mine = *all[world_.below(all.size())];
    const bool writes = mine.part().exclusive();
    const bool uses = what < 5 && mine.part().of_a_lock() && lease->held(c.io.now());
    if (uses && writes) co_await add_one(c, mine);
    if (uses && !writes) co_await only_read(c, mine);
    if (what == 5) co_await renew(c, lease);
    const bool can_downgrade = writes && names.size() == 1 && plan_.readers > 0;
    if (what == 6 && can_downgrade) co_await downgrade(c, lease, mine);
    if (c.crashed) co_return;
  }
  const limit until(std::min(later(c.io.now(), 1s), lease->of()->deadline()));
  ++result_.operations;
  const released end_of_it = co_await c.engine.release(c.io, lease, until);
  world_.note("released", static_cast<std::uint64_t>(end_of_it), lease->fence());
  if (end_of_it == released::lost) ++result_.lost;
  const bool may_run_out = !lease->of()->on.renew || lease->of()->on.max_hold > 0ms;
  if (plan_.quiet && end_of_it != released::yes && !may_run_out) {
    world_.violate("I4: a lease was lost though nothing was wrong");
  }
  if (lease->held(c.io.now())) world_.violate("I4: a lease is held after its release");
  if (c.crashed) co_return;
  for (checker::watched* mine : all) checker_.forget(*mine);
}

task<void> users::renew(client& c, std::shared_ptr<lease_state> lease) {
  const milliseconds ttl = any_ttl();
  const limit until(lease->of()->deadline());
  ++result_.operations;
  const storage::answer<instant> renewed = co_await c.engine.renew(c.io, lease, ttl, until);
  world_.note("renewed", renewed.is_yes() ? 1 : 0);
}

/// The writer stops writing before it asks: readers may be admitted before its reply arrives, or if the reply is lost.
task<void> users::downgrade(client& c, std::shared_ptr<lease_state> lease, checker::watched& mine) {
  mine.become_reader();
  const limit until(later(c.io.now(), world_.chance(0.5) ? world_.between(0ms, 10ms) : span(1s)));
  ++result_.operations;
  const storage::answer<instant> changed = co_await c.engine.downgrade(c.io, lease, until);
  world_.note("downgraded", changed.is_yes() ? 1 : 0);
}

/// Reads, thinks and writes, each a message to the resource. The holder may be stopped anywhere in between.
task<void> users::add_one(client& c, const checker::watched& mine) {
  co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 5ms))));
  if (c.crashed) co_return;
  const std::optional<std::uint64_t> seen = resource_.read(mine.name(), mine.fence());
  ++result_.operations;
  if (!seen) {
    refused(mine);
    co_return;
  }
  co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 20ms))));
  if (c.crashed) co_return;
  ++result_.operations;
  const bool written = resource_.write(mine.name(), mine.fence(), *seen + 1);
  if (!written) refused(mine);
}

task<void> users::only_read(client& c, const checker::watched& mine) {
  co_await sleep(c.io, limit(later(c.io.now(), world_.between(0ms, 5ms))));
  if (c.crashed) co_return;
  ++result_.operations;
  if (!resource_.read(mine.name(), mine.fence())) refused(mine);
}

void users::refused(const checker::watched& mine) {
  if (!service_.exclusive() || !mine.believes()) return;
  world_.violate("I3: a resource refused a living holder of " + mine.name());
}

task<void> users::take_everything(client& c) {
  for (std::uint64_t n = 0; n < plan_.names; ++n) {
    co_await take(c, lock_name(n), share());
    // Not always: who comes tidies up after the dead, and without that nothing may be left, either.
    const bool reads = plan_.readers > 0 && world_.chance(0.5);
    if (reads) co_await take(c, lock_name(n), share::reader());
  }
  const bool takes = plan_.permits > 0 && world_.chance(0.7);
  if (takes) co_await take(c, semaphore, share::permits(permits_, permits_));
}

task<void> users::take(client& c, std::string name, share part) {
  const core::terms on{.wants = part, .ttl = 150ms};
  const instant last = later(c.io.now(), 40s);
  core::request wanted(name, on, limit(last), false);
  outcome got = co_await c.engine.acquire(c.io, wanted);
  // The dead may have had it in another size, and keep it so until their time is over; and servers that were started a
  // short time ago may not be ready.
  const auto may_get_better = [](errc why) { return why == errc::foreign || why == errc::not_ready; };
  while (got.why && may_get_better(got.why->code) && c.io.now() < last) {
    co_await sleep(c.io, limit(later(c.io.now(), 500ms)));
    got = co_await c.engine.acquire(c.io, wanted);
  }
  if (got.what != outcome::kind::granted) {
    world_.violate("I7: " + name + " is free and cannot be acquired");
    co_return;
  }
  const limit until(later(c.io.now(), 1s));
  co_await c.engine.release(c.io, std::move(got.lease), until);
}

}  // namespace holdfast::sim
