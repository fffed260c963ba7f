#include "holding/acquisition.hpp"

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

std::optional<std::size_t> waiting_before_us(const store& in, std::string_view name, const std::string& label) {
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

std::string onlooker::line(std::string_view name, std::string_view holder) {
  std::string text(name);
  if (!holder.empty()) text.append(", held by ").append(holder);
  return text;
}

void onlooker::on(const event& e) noexcept {
  try {
    if (e.what == event::kind::waiting || e.what == event::kind::left) {
      const std::lock_guard lock(mutex_);
      if (!e.why) holder_ = e.text;
      unanswered_ = bool(e.why);
      name_ = e.name;
      if (e.what == event::kind::left) ++refusals_;
      heard_.notify_all();
    }
    if (e.what == event::kind::waiting) tell_waiting(e);
    if (e.what == event::kind::revoke_requested) tell_request(e);
    note_renewals(e);
    if (e.what == event::kind::suspect) status_.tell("unanswered", {{"name", e.name}, {"why", e.text}});
    if (e.what == event::kind::suspect && verbose_) {
      say_in_words("a renewal got no answer; trying again: " + std::string(e.text));
    }
  } catch (const std::exception&) {  // no memory to tell with
  }
}

void onlooker::tell_request(const event& e) const {
  status_.tell("revoke_requested", {{"name", e.name}, {"fence", e.fence}, {"reason", e.text}});
  if (!verbose_) return;
  const std::string why = e.text.empty() ? "" : ": " + std::string(e.text);
  say_in_words("somebody asks for " + std::string(e.name) + why);
}

void onlooker::tell_waiting(const event& e) const {
  constexpr const char* ourselves = "it may be held by the run that this one is in, which ends only after this one";
  if (nested_) {
    status_.tell("waiting", {{"name", e.name}, {"holder", e.text}, {"why", ourselves}});
  } else {
    status_.tell("waiting", {{"name", e.name}, {"holder", e.text}});
  }
  if (verbose_) say_in_words("waiting for " + line(e.name, e.text));
  if (nested_ && !quiet_) say_in_words(ourselves);
}

void onlooker::note_renewals(const event& e) {
  const std::lock_guard lock(mutex_);
  if (e.what == event::kind::renewed) unrenewed_.clear();
  if (e.what == event::kind::suspect) unrenewed_ = e.text;
  if (e.what != event::kind::lost) return;
  loss_ = e.text;
  if (e.why == errc::unreachable && !unrenewed_.empty()) loss_ += ": " + unrenewed_;
  heard_.notify_all();
}

std::string onlooker::loss(boot_clock::duration at_most) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, at_most, [&] { return !loss_.empty(); });
  return loss_;
}

std::string onlooker::unrenewed() {
  const std::lock_guard lock(mutex_);
  return unrenewed_;
}

onlooker::waited_for onlooker::waits_for() {
  const std::lock_guard lock(mutex_);
  return {name_, holder_};
}

std::string onlooker::holder(int refusals) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, 1s, [&] { return refusals_ >= refusals; });
  return holder_;
}

bool onlooker::unanswered(int refusals) {
  (void)holder(refusals);
  const std::lock_guard lock(mutex_);
  return unanswered_;
}

acquisition::acquisition(const hold_options& o, store& s, caught_signals& signals, const status& told, onlooker& sees,
                         std::string label, ending* until)
    : options_(o),
      store_(s),
      signals_(signals),
      status_(told),
      onlooker_(sees),
      label_(std::move(label)),
      how_{.ttl = o.ttl, .max_hold = o.max_hold, .label = label_, .shared = o.shared},
      until_(until) {}

acquisition::~acquisition() {
  store_.close();  // whoever is asked on our behalf need not answer any more
}

std::optional<tenure> acquisition::get() {
  std::optional<tenure> got = ask_and_hear_signals();
  saying_.request_stop();
  if (const int by = signals_.asked_to_stop(); by != 0) {
    code_ = by_signal + by;
    return std::nullopt;
  }
  if (!got) tell_busy();
  return got;
}

void acquisition::tell_busy() {
  // Where we were stopped, no refusal may come.
  const std::string holder = was_ended_ ? onlooker_.waits_for().holder : onlooker_.holder(refusals_);
  if (look_was_cut_ || (!was_ended_ && onlooker_.unanswered(refusals_))) {
    const std::string why = "the store has not answered in time";
    if (!options_.quiet) say_in_words("gave up on " + options_.what() + ": " + why);
    status_.tell("busy", {{"name", options_.what()}, {"holder", ""}, {"why", why}});
  } else {
    const bool aloud = options_.skip ? options_.verbose : !options_.quiet;
    const bool is_known = !was_ended_ || !holder.empty();
    if (aloud) {
      say_in_words(is_known ? "busy: " + onlooker::line(options_.what(), holder)
                            : "gave up on " + options_.what() + ": its caller has ended");
    }
    status_.tell("busy", {{"name", options_.what()}, {"holder", holder}});
  }
  code_ = options_.skip ? fine : options_.busy_code;
}

std::optional<tenure> acquisition::ask(const limit& until) {
  const auto as_tenure = [](auto got) { return got ? std::optional<tenure>(std::move(*got)) : std::nullopt; };
  const std::string& name = options_.names.front();
  if (options_.leads) return as_tenure(election(store_, name, how_).try_campaign(until));
  if (!options_.permits) return as_tenure(store_.try_acquire(options_.names, until, how_));
  return as_tenure(semaphore(store_, name, options_.permits->all, how_).try_take(until, options_.permits->taken));
}

/// The usual case, without a place in the queue. A store that gives no answer yet may give one later: whoever waits
/// asks it again, with the library's patience.
std::optional<tenure> acquisition::look(instant last, const std::stop_token& stop) {
  const instant patience_ends = boot_clock::now() + open_options().patience;
  try {
    std::optional<tenure> got = ask(within(0s, stop));
    if (!got) ++refusals_;
    return got;
  } catch (const lock_error& e) {
    ++refusals_;
    const bool may_pass = e.code() == errc::unreachable || e.code() == errc::not_ready;
    if (!may_pass || boot_clock::now() >= std::min(last, patience_ends)) throw;
    if (e.code() == errc::not_ready) refused_ = e;
    status_.tell("unanswered", {{"name", options_.what()}, {"why", e.what()}});
    if (options_.verbose) say_in_words(std::string(e.what()) + "; asking again");
    return std::nullopt;
  }
}

/// Once; -v has said it at once. In a thread of its own: the store may take its time to say how many wait before us. By
/// then there may be nothing to wait for.
void acquisition::say_who_holds_it() {
  if (boot_clock::now() < say_at_) return;
  say_at_ = instant::max();
  const onlooker::waited_for it = onlooker_.waits_for();
  if (it.name.empty()) return;
  saying_ = std::jthread([this, it](const std::stop_token& answered) {
    try {
      std::string line = onlooker::line(it.name, it.holder);
      if (const auto before = waiting_before_us(store_, it.name, label_); before > 0u) {
        line += "; " + std::to_string(*before) + (*before == 1 ? " waits" : " wait") + " before us";
      }
      if (!answered.stop_requested()) say_in_words("waiting for " + line);
    } catch (const std::exception&) {  // it is only a line
    }
  });
}

std::optional<tenure> acquisition::ask_as_told(instant last, const std::stop_token& stop) {
  std::optional<tenure> got = look(last, stop);
  if (got || options_.wait == 0ms || stop.stop_requested()) return got;
  waits_.set();
  got = ask(limit(last, stop));
  if (got) return got;
  ++refusals_;
  // What the store said at the look stands, if our own time was over before it could say it again.
  if (refused_ && !stop.stop_requested() && onlooker_.unanswered(refusals_)) throw *refused_;
  return got;
}

/// The store is asked in a thread of its own: one that gives no answer keeps nobody from hearing a signal. The ending
/// is minded in the queue only: what is free is had, and given back. A look has the store's patience, which may be more
/// than our own time.
std::optional<tenure> acquisition::ask_and_hear_signals() {
  const instant last = options_.wait ? within(*options_.wait).at() : instant::max();
  instant look_until = options_.wait == 0ms ? instant::max() : last;
  if (!options_.quiet && !options_.verbose && ::isatty(STDERR_FILENO) == 1) say_at_ = boot_clock::now() + 1s;
  std::optional<tenure> got;
  std::exception_ptr why;
  std::jthread asking([&](const std::stop_token& give_up) {  // asked also if we throw, before it is waited for
    try {
      got = ask_as_told(last, give_up);
    } catch (const std::exception&) {
      why = std::current_exception();
    }
    answered_.set();
  });
  for (bool over = false, waits = false; !over;) {
    const bool minds = until_ != nullptr && waits && !asking.get_stop_token().stop_requested();
    pollfd all[] = {{signals_.fd(), POLLIN, 0},
                    {answered_.fd(), POLLIN, 0},
                    {minds ? until_->fd() : -1, POLLIN, 0},
                    {waits ? -1 : waits_.fd(), POLLIN, 0}};
    const instant look_at = minds && all[2].fd < 0 ? boot_clock::now() + ask_again : instant::max();
    ::poll(all, 4, poll_timeout(std::min({say_at_, look_at, look_until})));
    say_who_holds_it();
    waits = waits || all[3].revents != 0;
    over = all[1].revents != 0;
    look_was_cut_ = look_was_cut_ || (!waits && !over && boot_clock::now() >= look_until);
    if (waits || look_was_cut_) look_until = instant::max();
    if (look_was_cut_) asking.request_stop();
    was_ended_ = was_ended_ || (minds && until_->over());
    if (signals_.asked_to_stop() != 0 || was_ended_) asking.request_stop();
  }
  asking.join();
  answered_.take();
  if (why) std::rethrow_exception(why);
  return got;
}

}  // namespace holdfast::cli
