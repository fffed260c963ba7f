#pragma once
#include <sys/types.h>

#include <functional>
#include <utility>
#include <vector>

#include "process/descriptor.hpp"
#include "process/front_link.hpp"
#include "process/signals.hpp"
#include "process/terminal.hpp"

namespace holdfast::cli {

/// What the front does, from the fork to the end of its worker. See front.hpp.
class forwarding {
 public:
  /// `not_ours`: the children that we had before.
  forwarding(caught_signals& signals, terminal& tty, pid_t worker, descriptor link, std::vector<pid_t> not_ours)
      : signals_(signals), tty_(tty), worker_(worker), link_(std::move(link)), not_ours_(std::move(not_ours)) {}

  /// Returns what the worker exited with, or dies of what it died of. If it was killed: what `killed` says.
  int go(const std::function<int(int by_signal)>& killed);

 private:
  [[nodiscard]] bool worker_ended();
  void forward(int number) const;
  void answer_all();
  void answer(const front_message&);
  void stop() const;
  void end_all() const;

  caught_signals& signals_;
  terminal& tty_;
  const pid_t worker_;
  const descriptor link_;
  const std::vector<pid_t> not_ours_;
  bool ended_ = false;
  int status_ = 0;
  pid_t command_ = 0;     // 0: it has not begun, or has ended with all that it left behind
  bool running_ = false;  // a stop is the command's, too
  int died_of_ = 0;
  bool for_the_job_ = false;
};

}  // namespace holdfast::cli
