#pragma once
#include <atomic>
#include <optional>

#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

/// Those who wait until there is a connection, and whether somebody sees to it that there will be one. From any thread.
class lobby {
 public:
  /// One that waits. It leaves before it dies.
  class visitor {
   public:
    explicit visitor(lobby& where) noexcept : where_(where) {}
    visitor(const visitor&) = delete;
    visitor& operator=(const visitor&) = delete;
    ~visitor() { (void)leave(); }
    /// False: it has been called, or never entered.
    [[nodiscard]] bool leave() noexcept;

    runtime::signal called;
    std::optional<storage::failure> why;  ///< once it was called: there is none

   private:
    friend class lobby;
    lobby& where_;
    visitor* next_ = nullptr;
    visitor** to_me_ = nullptr;  // what points to us; null: we are not in the lobby
  };

  /// `open` is whether there is a connection. It is set before call_all(), and not while somebody enters.
  explicit lobby(const std::atomic<bool>& open) noexcept : open_(open) {}

  enum class welcome {
    open,       ///< there is one: no need to wait
    served,     ///< will be called
    unattended  ///< will be called, if the visitor finds somebody who serves until retire() says yes
  };
  [[nodiscard]] welcome enter(visitor&) noexcept;
  /// Nobody could be found: the next one has to try.
  void give_up_serving() noexcept;
  /// There is one, or why not.
  void call_all(const std::optional<storage::failure>& why) noexcept;
  /// Of who serves. False: somebody waits, and it has to go on.
  [[nodiscard]] bool retire() noexcept;

 private:
  struct room {
    bool served = false;
    visitor* first = nullptr;
  };
  const std::atomic<bool>& open_;
  runtime::guarded<room> room_;
};

}  // namespace holdfast::redis
