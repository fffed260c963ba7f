#pragma once
#include <functional>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "command.hpp"
#include "holding/acquisition.hpp"
#include "holding/options.hpp"
#include "holding/status.hpp"
#include "process/io.hpp"
#include "process/signals.hpp"

namespace holdfast::cli {

/// Holds what the options want while no command of ours runs: for a script, or for another process. One after the
/// other: acquire(), tell_acquired(), wait(), give_back().
class holder {
 public:
  /// Waits and holds until it is over, or a signal comes. All must outlive it; the label is shown to others.
  holder(const hold_options&, const status&, ending& until, const std::string& label);

  /// -1: it is ours. Else nothing is held, all was told, and this is what to exit with.
  int acquire();
  /// False: what is held could not be told, or is told to nobody. It is to be given back then, for that cause.
  bool tell_acquired();

  enum class cause {
    untold,  ///< tell_acquired() was false
    over,    ///< the ending is there
    signal,  ///< one that ends us
    asked,   ///< `also` is readable
    lost,
  };
  [[nodiscard]] cause wait(int also = -1);
  /// Gives it back, and tells so. Returns what to exit with: 0, 70 (untold), 128 and the signal, 79 (lost), or 80 (not
  /// certain).
  int give_back(cause);
  /// After a loss: until the store does not know us any more, for two seconds at most, or until a signal comes. Whoever
  /// asks it about us then is told the truth. Meanwhile `heard` is called when `also` is readable; true: that is
  /// enough. The store is closed then. Throws std::system_error.
  void linger(int also, const std::function<bool()>& heard);
  [[nodiscard]] const lease& held() const noexcept { return tenure_.as_lease(); }

 private:
  int tell_loss();

  const hold_options& options_;
  const status& status_;
  const teller tell_;
  ending& until_;
  const std::string label_;
  caught_signals signals_;
  const std::shared_ptr<onlooker> onlooker_;
  std::optional<store> store_;
  std::optional<acquisition> acquisition_;
  tenure tenure_;
  flag loss_;
  std::optional<std::stop_callback<std::function<void()>>> lost_;
  boot_clock::time_point held_since_{};
  int untold_ = 0;  // the errno that says why
};

/// `holdfast hold NAME...`: holds until stdin ends or a signal comes, and tells what happens on stdout. For a script of
/// any language that wants a lock beside it. See command.hpp.
[[nodiscard]] command_spec describe_hold(const user_command& after_dashes);

}  // namespace holdfast::cli
