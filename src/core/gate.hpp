#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/hold.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/answer.hpp"

namespace holdfast::core {

/// A local caller in front of a lock. It is called in with the lock in hand, or to ask the store for it, or with bad
/// news.
class visitor {
 public:
  explicit visitor(const terms& wanted) noexcept : wants(wanted) {}
  visitor(const visitor&) = delete;
  visitor& operator=(const visitor&) = delete;
  const terms& wants;
  runtime::signal called;
  std::shared_ptr<tenancy> given;
  std::optional<storage::failure> failed;
  bool settled = false;  ///< it is out of the line, and has seen what for

  /// The store has answered the one in the room, yes or no: those behind it wait for a holder, not for the store.
  void answered() noexcept {
    progress_->answered = true;
    ++progress_->answers;
  }
  /// The store has answered one of those who were before us.
  [[nodiscard]] bool saw_answers() const noexcept { return progress_->answers != seen_; }

 private:
  friend class gate;
  struct progress {
    std::atomic<bool> answered{false};  // the one who is in the room now
    std::atomic<unsigned> answers{0};   // and all before it
  };
  progress alone_;
  progress* progress_ = &alone_;  // of the room, if there is one
  unsigned seen_ = 0;             // answers before we came
  visitor* next_ = nullptr;
  visitor* previous_ = nullptr;
};

/// One caller per name and process goes to the store for a whole lock; the others wait here, in order of arrival.
/// (Readers and takers of permits do not come here: each has its own place in the store's queue.)
class gate {
 public:
  enum class entry {
    head,     ///< nobody is there: go to the store, and call next() or pass() in the end
    waiting,  ///< wait for `called`
    busy,     ///< somebody is there, and we may not wait
  };
  [[nodiscard]] entry enter(const std::string& name, visitor&, bool may_wait);
  /// Gives up waiting. False: we were called in the same instant.
  [[nodiscard]] bool leave(const std::string& name, visitor&) noexcept;
  /// Whoever is in the room leaves it: the first in line is called, to ask the store.
  void next(const std::string& name) noexcept;
  /// The same, with the lock in hand. False: nobody is there, or the first in line wants other terms, or the hold has
  /// no tenancy left to give; then the room is still ours. `passed`, if any, runs before the next one is called.
  bool pass(const std::shared_ptr<hold>&, instant now, const std::function<void()>& passed = nullptr);

  /// The one in the room gets no answer from the store; or gets one again.
  void trouble(const std::string& name, const storage::failure&);
  void calm(const std::string& name) noexcept;
  [[nodiscard]] std::optional<storage::failure> trouble_at(const std::string& name) const;
  /// The same for one who has waited in vain: a store that has said nothing in all that time is trouble too.
  [[nodiscard]] std::optional<storage::failure> trouble_at(const std::string& name, const visitor&) const;
  /// Tells all who wait that the store has failed.
  void fail(const std::string& name, const storage::failure&);

  [[nodiscard]] std::size_t rooms() const noexcept;

 private:
  struct room {
    visitor* first = nullptr;
    visitor* last = nullptr;
    std::unique_ptr<storage::failure> trouble;
    visitor::progress progress;
    void add(visitor&) noexcept;
    void remove(visitor&) noexcept;
    void summon(visitor&) noexcept;
  };
  runtime::guarded<std::unordered_map<std::string, room>> rooms_;
};

}  // namespace holdfast::core
