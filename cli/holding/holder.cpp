#include "holding/holder.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <thread>

#include "exit_code.hpp"
#include "holding/acquisition.hpp"
#include "process/io.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

holder::holder(const hold_options& o, const status& told, ending& until, const std::string& label)
    : options_(o),
      status_(told),
      tell_(o, told),
      until_(until),
      label_(label),
      onlooker_(std::make_shared<onlooker>(told, o.verbose && !o.quiet, o.quiet)) {}

int holder::acquire() {
  try {
    if (const std::string wrong = options_.contradiction(); !wrong.empty()) {
      throw lock_error(errc::bad_option, options_.what(), wrong);
    }
    store_.emplace(options_.store.open(onlooker_));
    acquisition_.emplace(options_, *store_, signals_, status_, *onlooker_, label_, &until_);
    std::optional<tenure> got = acquisition_->get();
    if (!got) return tell_.end(acquisition_->code(), "not acquired");
    tenure_ = std::move(*got);
  } catch (const lock_error& e) {
    if (const int by = signals_.asked_to_stop(); by != 0) return tell_.end(by_signal + by, "not acquired");
    return tell_.end_wrong(code_of(e), "error", e.what());
  }
  held_since_ = boot_clock::now();
  lost_.emplace(held().lost_token(), [this] { loss_.set(); });
  return -1;
}

bool holder::tell_acquired() {
  untold_ = tell_.acquired(held(), 5s);
  return untold_ == 0;
}

holder::cause holder::wait(int also) {
  for (;;) {
    if (!held().held()) return cause::lost;
    if (signals_.asked_to_stop() != 0) return cause::signal;
    if (until_.over()) return cause::over;
    pollfd all[] = {{signals_.fd(), POLLIN, 0}, {loss_.fd(), POLLIN, 0}, {until_.fd(), POLLIN, 0}, {also, POLLIN, 0}};
    const auto look_at = all[2].fd < 0 ? boot_clock::now() + ask_again : boot_clock::time_point::max();
    ::poll(all, 4, poll_timeout(std::min(held().deadline(), look_at)));
    loss_.take();  // it only wakes us; what counts is the lease
    if (all[3].revents != 0 && held().held()) return cause::asked;
  }
}

int holder::give_back(cause why) {
  lost_.reset();
  const bool in_time = why != cause::lost && held().held();
  const released how = tenure_.give_back();
  if (!in_time || how == released::lost) return tell_loss();
  tell_.gave_back(how);
  if (how == released::unknown) {
    return tell_.end_wrong(
        uncertain, "uncertain",
        options_.what() + ": the store gave no answer to the release; it is free after its ttl at the latest");
  }
  if (why == cause::untold) {
    const std::string reason = std::generic_category().message(untold_);
    return tell_.end_wrong(
        internal, "error",
        options_.what() + ": the event acquired cannot be written, and the lock was released: " + reason);
  }
  return why == cause::signal ? tell_.end(by_signal + signals_.asked_to_stop(), "signal") : tell_.end(fine, "released");
}

/// The store is asked in a thread of its own: it may be silent, which may be why it was lost.
void holder::linger(int also, const std::function<bool()>& heard) {
  const flag gone;
  const std::jthread asking([&] {
    wait_until_gone_from(*store_, options_.names.front());
    gone.set();
  });
  const auto until = boot_clock::now() + 2s;
  for (bool enough = false; !enough && boot_clock::now() < until && signals_.asked_to_stop() == 0;) {
    pollfd all[] = {{signals_.fd(), POLLIN, 0}, {gone.fd(), POLLIN, 0}, {also, POLLIN, 0}};
    ::poll(all, 3, poll_timeout(until));
    enough = all[1].revents != 0 || (all[2].revents != 0 && heard());
  }
  store_->close();  // a question that it does not answer is not waited for
}

int holder::tell_loss() {
  const bool by_max_hold = options_.max_hold_ends(held_since_, boot_clock::now());
  std::string why = by_max_hold ? "--max-hold is over" : onlooker_->loss();
  if (why.empty()) why = "the store says that it was not ours any more";
  tell_.lost(held().fence(), why);
  return tell_.end(lost, "lost", why);
}

namespace {

int hold(const hold_options& o) {
  const status told(o.status_fd >= 0 ? o.status_fd : STDOUT_FILENO);
  input_end until;
  holder mine(o, told, until, o.label_for("hold"));
  if (const int not_had = mine.acquire(); not_had >= 0) return not_had;
  if (!mine.tell_acquired()) return mine.give_back(holder::cause::untold);
  return mine.give_back(mine.wait());
}

}  // namespace

command_spec describe_hold(const user_command&) {
  const auto wanted = std::make_shared<hold_options>();
  return {
      .name = "hold",
      .group = "hold",
      .description = "Hold a lock until stdin ends; tell what happens on stdout",
      .examples = {{"holdfast hold db < pipe > events", "until the other end of the pipe is closed"},
                   {"holdfast hold -w 5s db", "on a terminal: until Ctrl-D"}},
      .options = joined(
          {wanted->rows(),
           {{.names = "--max-hold", .value = "D", .help = "hold it for so long at most", .into = &wanted->max_hold}}}),
      .footer =
          "One JSON object a line on stdout, or on --status-fd: waiting, busy, acquired, revoke_requested, lost, "
          "released, end.\n"
          "Exit codes: 0 when stdin has ended, 128+n by signal n, 79 lost, 80 not certain to be given back; 64 "
          "usage, 69 store unreachable, 70 released, since acquired could not be written, 75 busy, 77 not allowed, 78 "
          "configuration.",
      .after_parse = [&o = *wanted] { o.settle_ttl(); },
      .act = [wanted] { return carry_out([&] { return hold(*wanted); }, wanted->quiet); }};
}

}  // namespace holdfast::cli
