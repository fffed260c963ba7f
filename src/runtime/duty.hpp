#pragma once
#include <atomic>
#include <cstdint>

#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"

namespace holdfast::runtime {

/// Who does a loop's work: its own thread, or a blocking caller that stands in for it while that one rests. It rests
/// for a moment longer than that, since callers come again: to and fro would cost each of them two changes of threads.
class duty {
 public:
  /// Of a caller.
  enum class given {
    now,      ///< it is ours, until stand_down()
    soon,     ///< when wait() comes back; the own thread has to be nudged
    instead,  ///< another does the work, ours included, until rely_no_more()
  };
  [[nodiscard]] given stand_in() noexcept;
  void wait() noexcept;
  /// `more`: there is work that cannot wait.
  void stand_down(bool more) noexcept;
  void rely_no_more() noexcept {
    state_.with([](state& s) { --s.relying; });
  }

  /// Of any thread that brings work: true if nobody was there, and the own thread is called.
  bool call() noexcept;

  /// Of the own thread: whether somebody waits to stand in.
  [[nodiscard]] bool is_wanted() const noexcept { return wanted_; }
  /// Lets that one, and comes back when there is work again that nobody does.
  void rest() noexcept;

 private:
  enum class of { own_thread, nobody, stand_in };
  struct state {
    of is = of::own_thread;
    unsigned relying = 0;      // callers whose work another does
    bool called = false;       // there is work, and nobody does it
    std::uint64_t number = 0;  // of those who stood in
    instant last{};            // that one stood down
    bool for_long = false;     // the own thread rests until it is called
  };
  guarded<state> state_;
  std::atomic<bool> wanted_{false};   // only one can wait
  std::atomic<bool> granted_{false};  // to that one
  signal call_;
};

}  // namespace holdfast::runtime
