#include "probe/probe.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>

#include "exit_code.hpp"
#include "text/state.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

namespace {

/// Returns whether it could be acquired beside the current holders.
bool has_room(const state& is, const hold_options& wanted) {
  if (is.holding == 0) return true;
  if (wanted.shared) return std::ranges::all_of(is.holders, &state::holder::reads);
  if (!wanted.permits || is.permits == 0) return false;
  std::uint64_t taken = is.holding - is.holders.size();  // holders that are not listed have at least one permit each
  for (const state::holder& each : is.holders) taken += each.permits;
  return taken + wanted.permits->taken <= is.permits;
}

}  // namespace

availability availability_of(const state& is, const hold_options& wanted) {
  const bool in_use = is.holding > 0 || is.waiting > 0;
  const bool is_semaphore = in_use && is.permits != 0;
  if (wanted.permits && is_semaphore && is.permits != wanted.permits->all) return availability::another_size;
  if (is.waiting > 0) return availability::taken;  // waiters are served first
  return has_room(is, wanted) ? availability::free : availability::taken;
}

std::vector<probe_result> look(const store& s, const hold_options& wanted, const limit& until) {
  std::vector<probe_result> all;
  for (const std::string& name : wanted.names) {
    // An expired limit would fail even if the store answers, so allow the time of one answer.
    const limit enough(std::max(until.at(), within(200ms).at()), until.stop());
    state is = s.inspect(name, enough);
    const availability seen = availability_of(is, wanted);
    if (seen == availability::another_size) {
      throw lock_error(errc::foreign, name,
                       "a semaphore of " + std::to_string(is.permits) + " permits, and not of " +
                           std::to_string(wanted.permits->all));
    }
    all.push_back({name, std::move(is), seen == availability::free});
  }
  return all;
}

limit probe_limit() { return within(2s); }

std::string in_words(const probe_result& s) {
  const std::string name = printable(s.name);
  return s.is.holders.empty() ? name + ", about to be handed to a waiter"
                              : name + ", held by " + holders_in_brief(s.is);
}

int try_now(const probe_options& o) {
  const std::vector<probe_result> seen = look(o.wanted.store.open({}, o.wanted.quiet), o.wanted, probe_limit());
  for (const probe_result& each : seen) {
    if (o.json) {
      json_value line = to_json(each.name, each.is);
      line["free"] = each.free;
      std::fputs(to_line(line).c_str(), stdout);
    } else if (o.wanted.verbose && !each.free) {
      std::fprintf(stderr, "holdfast: busy: %s\n", in_words(each).c_str());
    }
  }
  return std::ranges::all_of(seen, &probe_result::free) ? fine : busy;
}

namespace {

/// Grows, so that a long wait costs the store little, and is random, so that waiters do not poll in step.
class pause {
 public:
  [[nodiscard]] boot_clock::duration next() {
    const auto now = std::exchange(length_, std::min<boot_clock::duration>(length_ * 2, 500ms));
    return std::chrono::duration_cast<boot_clock::duration>(now * some_(random_));
  }

 private:
  boot_clock::duration length_ = 10ms;
  std::minstd_rand random_{std::random_device{}()};
  std::uniform_real_distribution<double> some_{0.75, 1.0};
};

}  // namespace

int wait_until_free(const probe_options& o) {
  const hold_options& wanted = o.wanted;
  const auto last = wanted.wait ? within(*wanted.wait).at() : boot_clock::time_point::max();
  const store s = wanted.store.open({}, wanted.quiet);
  pause between;
  for (bool first = true;; first = false) {
    std::vector<probe_result> seen;
    try {
      seen = look(s, wanted, wanted.wait == 0ms ? probe_limit() : limit(last));
    } catch (const lock_error& e) {
      if (!e.no_answer() || wanted.wait == 0ms || boot_clock::now() < last) throw;
      if (!wanted.quiet) std::fprintf(stderr, "holdfast: gave up: %s\n", e.what());
      return busy;
    }
    const auto blocked = std::ranges::find(seen, false, &probe_result::free);
    if (blocked == seen.end()) return fine;
    if (first && wanted.verbose) std::fprintf(stderr, "holdfast: waiting for %s\n", in_words(*blocked).c_str());
    const auto now = boot_clock::now();
    if (now >= last) {
      if (!wanted.quiet) std::fprintf(stderr, "holdfast: busy: %s\n", in_words(*blocked).c_str());
      return busy;
    }
    std::this_thread::sleep_for(std::min(between.next(), last - now));
  }
}

namespace {

option_rows verbosity_rows(hold_options& o) {
  return {{.names = "-q,--quiet", .help = "print nothing, not even errors", .into = &o.quiet},
          {.names = "-v,--verbose", .help = "print who holds it", .into = &o.verbose, .excludes = {"--quiet"}}};
}

}  // namespace

command_spec describe_try(const user_command&) {
  const auto wanted = std::make_shared<probe_options>();
  return {.name = "try",
          .group = "hold",
          .description = "Check whether a lock is free, without acquiring it",
          .examples = {{"holdfast try db && echo free", "or exit 75; nothing is acquired"},
                       {"holdfast try -v db", "and who holds it"}},
          .options = joined(
              {wanted->wanted.target_rows(),
               {{.names = "--json", .help = "print who holds it, one JSON object per name", .into = &wanted->json}},
               verbosity_rows(wanted->wanted)}),
          .footer = "Exit codes: 0 free, 75 not; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration.",
          .act = [wanted] { return run_action([&] { return try_now(*wanted); }, wanted->wanted.quiet); }};
}

command_spec describe_wait(const user_command&) {
  const auto wanted = std::make_shared<probe_options>();
  return {
      .name = "wait",
      .group = "hold",
      .description = "Wait until a lock is free, without acquiring it",
      .examples = {{"holdfast wait -w 1m db", "until it is free, at most a minute"}},
      .options = joined(
          {wanted->wanted.target_rows(),
           {{.names = "-w,--timeout", .value = "D", .help = "give up after this time", .into = &wanted->wanted.wait}},
           verbosity_rows(wanted->wanted)}),
      .footer =
          "Exit codes: 0 it was free at the last look, 75 still held after that time; 64 usage, 69 store unreachable, "
          "77 "
          "not allowed, 78 configuration.",
      .act = [wanted] { return run_action([&] { return wait_until_free(*wanted); }, wanted->wanted.quiet); }};
}

}  // namespace holdfast::cli
