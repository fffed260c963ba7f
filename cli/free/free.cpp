#include "free/free.hpp"

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

/// Beside those who hold it.
bool has_room(const state& is, const hold_options& wanted) {
  if (is.holding == 0) return true;
  if (wanted.shared) return std::ranges::all_of(is.holders, &state::holder::reads);
  if (!wanted.permits || is.permits == 0) return false;
  std::uint64_t taken = is.holding - is.holders.size();  // of those who are not listed: one each, at least
  for (const state::holder& each : is.holders) taken += each.permits;
  return taken + wanted.permits->taken <= is.permits;
}

}  // namespace

outlook outlook_of(const state& is, const hold_options& wanted) {
  const bool in_use = is.holding > 0 || is.waiting > 0;
  const bool is_semaphore = in_use && is.permits != 0;
  if (wanted.permits && is_semaphore && is.permits != wanted.permits->all) return outlook::another_size;
  if (is.waiting > 0) return outlook::taken;  // first come, first served
  return has_room(is, wanted) ? outlook::free : outlook::taken;
}

std::vector<sight> look(const store& s, const hold_options& wanted, const limit& until) {
  std::vector<sight> all;
  for (const std::string& name : wanted.names) {
    // One that is over would count as none; so long a store that is there needs at most.
    const limit enough(std::max(until.at(), within(200ms).at()), until.stop());
    state is = s.inspect(name, enough);
    const outlook seen = outlook_of(is, wanted);
    if (seen == outlook::another_size) {
      throw lock_error(errc::foreign, name,
                       "a semaphore of " + std::to_string(is.permits) + " permits, and not of " +
                           std::to_string(wanted.permits->all));
    }
    all.push_back({name, std::move(is), seen == outlook::free});
  }
  return all;
}

limit for_one_look() { return within(2s); }

std::string in_words(const sight& s) {
  const std::string name = printable(s.name);
  return s.is.holders.empty() ? name + ", about to be handed to one who waits"
                              : name + ", held by " + holders_in_brief(s.is);
}

int try_now(const free_options& o) {
  const std::vector<sight> seen = look(o.wanted.store.open({}, o.wanted.quiet), o.wanted, for_one_look());
  for (const sight& each : seen) {
    if (o.json) {
      json_value line = to_json(each.name, each.is);
      line["free"] = each.free;
      std::fputs(to_line(line).c_str(), stdout);
    } else if (o.wanted.verbose && !each.free) {
      std::fprintf(stderr, "holdfast: busy: %s\n", in_words(each).c_str());
    }
  }
  return std::ranges::all_of(seen, &sight::free) ? fine : busy;
}

namespace {

/// From look to look it grows, so that a long wait costs the store little; and no two who wait keep in step.
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

int wait_until_free(const free_options& o) {
  const hold_options& wanted = o.wanted;
  const auto last = wanted.wait ? within(*wanted.wait).at() : boot_clock::time_point::max();
  const store s = wanted.store.open({}, wanted.quiet);
  pause between;
  for (bool first = true;; first = false) {
    std::vector<sight> seen;
    try {
      seen = look(s, wanted, wanted.wait == 0ms ? for_one_look() : limit(last));
    } catch (const lock_error& e) {
      if (!e.no_answer() || wanted.wait == 0ms || boot_clock::now() < last) throw;
      if (!wanted.quiet) std::fprintf(stderr, "holdfast: gave up: %s\n", e.what());
      return busy;
    }
    const auto in_the_way = std::ranges::find(seen, false, &sight::free);
    if (in_the_way == seen.end()) return fine;
    if (first && wanted.verbose) std::fprintf(stderr, "holdfast: waiting for %s\n", in_words(*in_the_way).c_str());
    const auto now = boot_clock::now();
    if (now >= last) {
      if (!wanted.quiet) std::fprintf(stderr, "holdfast: busy: %s\n", in_words(*in_the_way).c_str());
      return busy;
    }
    std::this_thread::sleep_for(std::min(between.next(), last - now));
  }
}

namespace {

option_rows voice_rows(hold_options& o) {
  return {{.names = "-q,--quiet", .help = "say nothing, not even what went wrong", .into = &o.quiet},
          {.names = "-v,--verbose", .help = "say who holds it", .into = &o.verbose, .excludes = {"--quiet"}}};
}

}  // namespace

command_spec describe_try(const user_command&) {
  const auto wanted = std::make_shared<free_options>();
  return {
      .name = "try",
      .group = "hold",
      .description = "Say whether a lock could be had now, and take nothing",
      .examples = {{"holdfast try db && echo free", "or exit 75; nothing is taken"},
                   {"holdfast try -v db", "and who holds it"}},
      .options =
          joined({wanted->wanted.wanted_rows(),
                  {{.names = "--json", .help = "print who holds it, one JSON object a name", .into = &wanted->json}},
                  voice_rows(wanted->wanted)}),
      .footer =
          "Exit codes: 0 it could be had, 75 not; 64 usage, 69 store unreachable, 77 not allowed, 78 configuration.",
      .act = [wanted] { return carry_out([&] { return try_now(*wanted); }, wanted->wanted.quiet); }};
}

command_spec describe_wait(const user_command&) {
  const auto wanted = std::make_shared<free_options>();
  return {
      .name = "wait",
      .group = "hold",
      .description = "Wait until a lock is free, without taking it",
      .examples = {{"holdfast wait -w 1m db", "until it is free, a minute at most"}},
      .options = joined(
          {wanted->wanted.wanted_rows(),
           {{.names = "-w,--timeout", .value = "D", .help = "wait for so long at most", .into = &wanted->wanted.wait}},
           voice_rows(wanted->wanted)}),
      .footer =
          "Exit codes: 0 it was free at the last look, 75 not within that time; 64 usage, 69 store unreachable, 77 "
          "not allowed, 78 configuration.",
      .act = [wanted] { return carry_out([&] { return wait_until_free(*wanted); }, wanted->wanted.quiet); }};
}

}  // namespace holdfast::cli
