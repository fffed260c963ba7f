#include "hold/acquisition.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <holdfast/error.hpp>
#include <thread>
#include <utility>

#include "exit_code.hpp"
#include "process/io.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

bool is_known(const state& s) {
  const auto is_us = [me = ::getpid()](const state::party& p) { return p.pid == me; };
  return std::any_of(s.holders.begin(), s.holders.end(), is_us) ||
         std::any_of(s.waiters.begin(), s.waiters.end(), is_us);
}

}  // namespace

void wait_until_forgotten(const store& s, const std::string& name) noexcept {
  try {
    for (const auto end = boot_clock::now() + 2s; is_known(s.inspect(name)) && boot_clock::now() < end;) {
      std::this_thread::sleep_for(2ms);
    }
  } catch (const std::exception&) {  // the store drops the claim by itself
  }
}

std::optional<std::size_t> queue_position(const store& in, std::string_view name, const std::string& label) {
  try {
    const state is = in.inspect(name);
    const auto ours = [&](const state::party& who) { return who.label == label && who.pid == ::getpid(); };
    const auto at = std::ranges::find_if(is.waiters, ours);
    if (at == is.waiters.end()) return std::nullopt;
    return static_cast<std::size_t>(at - is.waiters.begin());
  } catch (const lock_error&) {
    return std::nullopt;
  }
}

std::string event_recorder::line(std::string_view name, std::string_view holder) {
  std::string text(name);
  if (!holder.empty()) text.append(", held by ").append(holder);
  return text;
}

void event_recorder::on(const event& e) noexcept {
  try {
    if (e.what == event::kind::waiting || e.what == event::kind::left) {
      const std::lock_guard lock(mutex_);
      if (!e.why) holder_ = e.text;
      unanswered_ = bool(e.why);
      name_ = e.name;
      if (e.what == event::kind::left) ++refusals_;
      changed_.notify_all();
    }
    if (e.what == event::kind::waiting) report_waiting(e);
    if (e.what == event::kind::revoke_requested) report_revoke_request(e);
    record_renewals(e);
    if (e.what == event::kind::suspect) status_.write("unanswered", {{"name", e.name}, {"why", e.text}});
    if (e.what == event::kind::suspect && verbose_) {
      print_message("a renewal got no answer; trying again: " + std::string(e.text));
    }
  } catch (const std::exception&) {  // out of memory
  }
}

void event_recorder::report_revoke_request(const event& e) const {
  status_.write("revoke_requested", {{"name", e.name}, {"fence", e.fence}, {"reason", e.text}});
  if (!verbose_) return;
  const std::string why = e.text.empty() ? "" : ": " + std::string(e.text);
  print_message("revoke request for " + std::string(e.name) + why);
}

void event_recorder::report_waiting(const event& e) const {
  constexpr const char* ourselves = "it may be held by the run that started this one, which ends only after this one";
  if (nested_) {
    status_.write("waiting", {{"name", e.name}, {"holder", e.text}, {"why", ourselves}});
  } else {
    status_.write("waiting", {{"name", e.name}, {"holder", e.text}});
  }
  if (verbose_) print_message("waiting for " + line(e.name, e.text));
  if (nested_ && !quiet_) print_message(ourselves);
}

void event_recorder::record_renewals(const event& e) {
  const std::lock_guard lock(mutex_);
  if (e.what == event::kind::renewed) unrenewed_.clear();
  if (e.what == event::kind::suspect) unrenewed_ = e.text;
  if (e.what != event::kind::lost) return;
  loss_ = e.text;
  if (e.why == errc::unreachable && !unrenewed_.empty()) loss_ += ": " + unrenewed_;
  changed_.notify_all();
}

std::string event_recorder::loss(boot_clock::duration at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return !loss_.empty(); });
  return loss_;
}

std::string event_recorder::unrenewed() {
  const std::lock_guard lock(mutex_);
  return unrenewed_;
}

event_recorder::wait_target event_recorder::waited_for() {
  const std::lock_guard lock(mutex_);
  return {name_, holder_};
}

std::string event_recorder::holder(int refusals) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, 1s, [&] { return refusals_ >= refusals; });
  return holder_;
}

bool event_recorder::unanswered(int refusals) {
  (void)holder(refusals);
  const std::lock_guard lock(mutex_);
  return unanswered_;
}

acquisition::acquisition(const hold_options& o, store& s, caught_signals& signals, const status& events,
                         event_recorder& sees, std::string label, end_condition* until)
    : options_(o),
      store_(s),
      signals_(signals),
      status_(events),
      recorder_(sees),
      label_(std::move(label)),
      how_{.ttl = o.ttl, .max_hold = o.max_hold, .label = label_, .shared = o.shared},
      until_(until) {}

acquisition::~acquisition() {
  store_.close();  // cancels requests that are still running
}

std::optional<held_lock> acquisition::get() {
  std::optional<held_lock> got = acquire_interruptibly();
  printing_.request_stop();
  if (const int by = signals_.asked_to_stop(); by != 0) {
    code_ = by_signal + by;
    return std::nullopt;
  }
  if (!got) report_busy();
  return got;
}

void acquisition::report_busy() {
  // If the end condition stopped us, there may be no refusal.
  const std::string holder = was_ended_ ? recorder_.waited_for().holder : recorder_.holder(refusals_);
  if (try_timed_out_ || (!was_ended_ && recorder_.unanswered(refusals_))) {
    const std::string why = "the store did not answer in time";
    if (!options_.quiet) print_message("gave up on " + options_.what() + ": " + why);
    status_.write("busy", {{"name", options_.what()}, {"holder", ""}, {"why", why}});
  } else {
    const bool aloud = options_.skip ? options_.verbose : !options_.quiet;
    const bool has_holder = !was_ended_ || !holder.empty();
    if (aloud) {
      print_message(has_holder ? "busy: " + event_recorder::line(options_.what(), holder)
                               : "gave up on " + options_.what() + ": its caller has ended");
    }
    status_.write("busy", {{"name", options_.what()}, {"holder", holder}});
  }
  code_ = options_.skip ? fine : options_.busy_code;
}

std::optional<held_lock> acquisition::request(const limit& until) {
  const auto as_held = [](auto got) { return got ? std::optional<held_lock>(std::move(*got)) : std::nullopt; };
  const std::string& name = options_.names.front();
  if (options_.leads) return as_held(election(store_, name, how_).try_campaign(until));
  if (!options_.permits) return as_held(store_.try_acquire(options_.names, until, how_));
  return as_held(semaphore(store_, name, options_.permits->all, how_).try_take(until, options_.permits->taken));
}

/// Makes one attempt without queueing. If the store does not answer, a caller that waits tries again, for as long as
/// the library's patience allows.
std::optional<held_lock> acquisition::try_once(instant last, const std::stop_token& stop) {
  const instant patience_ends = boot_clock::now() + open_options().patience;
  try {
    std::optional<held_lock> got = request(within(0s, stop));
    if (!got) ++refusals_;
    return got;
  } catch (const lock_error& e) {
    ++refusals_;
    const bool may_pass = e.code() == errc::unreachable || e.code() == errc::not_ready;
    if (!may_pass || boot_clock::now() >= std::min(last, patience_ends)) throw;
    if (e.code() == errc::not_ready) refused_ = e;
    status_.write("unanswered", {{"name", options_.what()}, {"why", e.what()}});
    if (options_.verbose) print_message(std::string(e.what()) + "; asking again");
    return std::nullopt;
  }
}

/// Prints the holder once, unless -v has printed it already. Runs in a thread because the store may be slow to return
/// the queue position; the line is dropped if the wait ends first.
void acquisition::print_holder() {
  if (boot_clock::now() < print_at_) return;
  print_at_ = instant::max();
  const event_recorder::wait_target it = recorder_.waited_for();
  if (it.name.empty()) return;
  printing_ = std::jthread([this, it](const std::stop_token& answered) {
    try {
      std::string line = event_recorder::line(it.name, it.holder);
      if (const auto before = queue_position(store_, it.name, label_); before > 0u) {
        line += "; " + std::to_string(*before) + (*before == 1 ? " waits" : " wait") + " before us";
      }
      if (!answered.stop_requested()) print_message("waiting for " + line);
    } catch (const std::exception&) {  // the line is optional
    }
  });
}

std::optional<held_lock> acquisition::try_then_wait(instant last, const std::stop_token& stop) {
  std::optional<held_lock> got = try_once(last, stop);
  if (got || options_.wait == 0ms || stop.stop_requested()) return got;
  waits_.set();
  got = request(limit(last, stop));
  if (got) return got;
  ++refusals_;
  // If the wait timed out without an answer, the error of the first attempt is the better explanation.
  if (refused_ && !stop.stop_requested() && recorder_.unanswered(refusals_)) throw *refused_;
  return got;
}

/// Runs the requests in a thread, so that signals are handled even if the store does not answer. The end condition is
/// only checked while queueing: a free lock is acquired first and released afterwards. The first attempt may take as
/// long as the library's patience, which can exceed our own timeout; it is cut off then.
std::optional<held_lock> acquisition::acquire_interruptibly() {
  const instant last = options_.wait ? within(*options_.wait).at() : instant::max();
  instant try_until = options_.wait == 0ms ? instant::max() : last;
  if (!options_.quiet && !options_.verbose && ::isatty(STDERR_FILENO) == 1) print_at_ = boot_clock::now() + 1s;
  std::optional<held_lock> got;
  std::exception_ptr why;
  std::jthread asking([&](const std::stop_token& give_up) {  // stopped and joined also if this function throws
    try {
      got = try_then_wait(last, give_up);
    } catch (const std::exception&) {
      why = std::current_exception();
    }
    answered_.set();
  });
  for (bool over = false, waits = false; !over;) {
    const bool watch_condition = until_ != nullptr && waits && !asking.get_stop_token().stop_requested();
    pollfd all[] = {{signals_.fd(), POLLIN, 0},
                    {answered_.fd(), POLLIN, 0},
                    {watch_condition ? until_->fd() : -1, POLLIN, 0},
                    {waits ? -1 : waits_.fd(), POLLIN, 0}};
    const instant recheck_at = watch_condition && all[2].fd < 0 ? boot_clock::now() + recheck_interval : instant::max();
    ::poll(all, 4, poll_timeout(std::min({print_at_, recheck_at, try_until})));
    print_holder();
    waits = waits || all[3].revents != 0;
    over = all[1].revents != 0;
    try_timed_out_ = try_timed_out_ || (!waits && !over && boot_clock::now() >= try_until);
    if (waits || try_timed_out_) try_until = instant::max();
    if (try_timed_out_) asking.request_stop();
    was_ended_ = was_ended_ || (watch_condition && until_->over());
    if (signals_.asked_to_stop() != 0 || was_ended_) asking.request_stop();
  }
  asking.join();
  answered_.take();
  if (why) std::rethrow_exception(why);
  return got;
}

}  // namespace holdfast::cli
