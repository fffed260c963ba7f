#include "hold/holder.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <thread>

#include "exit_code.hpp"
#include "hold/acquisition.hpp"
#include "process/io.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

holder::holder(const hold_options& o, const status& events, end_condition& until, const std::string& label)
    : options_(o),
      status_(events),
      report_(o, events),
      until_(until),
      label_(label),
      recorder_(std::make_shared<event_recorder>(events, o.verbose && !o.quiet, o.quiet)) {}

int holder::acquire() {
  try {
    if (const std::string wrong = options_.contradiction(); !wrong.empty()) {
      throw lock_error(errc::bad_option, options_.what(), wrong);
    }
    store_.emplace(options_.store.open(recorder_));
    acquisition_.emplace(options_, *store_, signals_, status_, *recorder_, label_, &until_);
    std::optional<held_lock> got = acquisition_->get();
    if (!got) return report_.end(acquisition_->code(), "not acquired");
    held_lock_ = std::move(*got);
  } catch (const lock_error& e) {
    if (const int by = signals_.asked_to_stop(); by != 0) return report_.end(by_signal + by, "not acquired");
    return report_.end_wrong(code_of(e), "error", e.what());
  }
  held_since_ = boot_clock::now();
  lost_.emplace(held().lost_token(), [this] { loss_.set(); });
  return -1;
}

bool holder::report_acquired() {
  report_errno_ = report_.acquired(held(), 5s);
  return report_errno_ == 0;
}

holder::cause holder::wait(int extra_fd) {
  for (;;) {
    if (!held().held()) return cause::lost;
    if (signals_.asked_to_stop() != 0) return cause::signal;
    if (until_.over()) return cause::over;
    pollfd all[] = {
        {signals_.fd(), POLLIN, 0}, {loss_.fd(), POLLIN, 0}, {until_.fd(), POLLIN, 0}, {extra_fd, POLLIN, 0}};
    const auto look_at = all[2].fd < 0 ? boot_clock::now() + recheck_interval : boot_clock::time_point::max();
    ::poll(all, 4, poll_timeout(std::min(held().deadline(), look_at)));
    loss_.take();  // it only wakes us up; the lease decides
    if (all[3].revents != 0 && held().held()) return cause::extra_ready;
  }
}

int holder::release(cause why) {
  lost_.reset();
  const bool in_time = why != cause::lost && held().held();
  const released how = held_lock_.release();
  if (!in_time || how == released::lost) return report_loss();
  report_.released_as(how);
  if (how == released::unknown) {
    return report_.end_wrong(
        uncertain, "uncertain",
        options_.what() + ": the store did not confirm the release; the lock is free after its ttl at the latest");
  }
  if (why == cause::not_reported) {
    const std::string reason = std::generic_category().message(report_errno_);
    return report_.end_wrong(
        internal, "error",
        options_.what() + ": the event acquired cannot be written, and the lock was released: " + reason);
  }
  return why == cause::signal ? report_.end(by_signal + signals_.asked_to_stop(), "signal")
                              : report_.end(fine, "released");
}

/// Asks the store in a thread, since it may not answer; that may be why the lock was lost.
void holder::linger(int extra_fd, const std::function<bool()>& on_ready) {
  const flag gone;
  const std::jthread asking([&] {
    wait_until_forgotten(*store_, options_.names.front());
    gone.set();
  });
  const auto until = boot_clock::now() + 2s;
  for (bool enough = false; !enough && boot_clock::now() < until && signals_.asked_to_stop() == 0;) {
    pollfd all[] = {{signals_.fd(), POLLIN, 0}, {gone.fd(), POLLIN, 0}, {extra_fd, POLLIN, 0}};
    ::poll(all, 3, poll_timeout(until));
    enough = all[1].revents != 0 || (all[2].revents != 0 && on_ready());
  }
  store_->close();  // cancels a request that is not answered
}

int holder::report_loss() {
  const bool by_max_hold = options_.max_hold_ends(held_since_, boot_clock::now());
  std::string why = by_max_hold ? "--max-hold is over" : recorder_->loss();
  if (why.empty()) why = "the store says that it was not ours any more";
  report_.lost(held().fence(), why);
  return report_.end(lost, "lost", why);
}

namespace {

int hold(const hold_options& o) {
  const status events(o.status_fd >= 0 ? o.status_fd : STDOUT_FILENO);
  end_of_input until;
  holder mine(o, events, until, o.label_for("hold"));
  if (const int not_had = mine.acquire(); not_had >= 0) return not_had;
  if (!mine.report_acquired()) return mine.release(holder::cause::not_reported);
  return mine.release(mine.wait());
}

}  // namespace

command_spec describe_hold(const user_command&) {
  const auto wanted = std::make_shared<hold_options>();
  return {.name = "hold",
          .group = "hold",
          .description = "Hold a lock until stdin ends; write events to stdout",
          .examples = {{"holdfast hold db < pipe > events", "until the other end of the pipe is closed"},
                       {"holdfast hold -w 5s db", "on a terminal: until Ctrl-D"}},
          .options = joined({wanted->rows(),
                             {{.names = "--max-hold",
                               .value = "D",
                               .help = "hold it for at most this long",
                               .into = &wanted->max_hold}}}),
          .footer =
              "Writes one JSON object per line to stdout, or to --status-fd: waiting, busy, acquired, "
              "revoke_requested, lost, "
              "released, end.\n"
              "Exit codes: 0 when stdin has ended, 128+n by signal n, 79 lost, 80 release not confirmed; 64 "
              "usage, 69 store unreachable, 70 released because the event acquired could not be written, 75 busy, 77 "
              "not allowed, 78 "
              "configuration.",
          .after_parse = [&o = *wanted] { o.resolve_ttl(); },
          .act = [wanted] { return run_action([&] { return hold(*wanted); }, wanted->quiet); }};
}

}  // namespace holdfast::cli
