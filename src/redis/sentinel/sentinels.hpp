#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "holdfast/limit.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/sentinel/primary_tracker.hpp"
#include "redis/sentinel/sentinel_view.hpp"
#include "redis/transport/connection.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Finds the primary of a service by asking its sentinels. From any thread.
class sentinels {
 public:
  struct primary {
    net::endpoint at;
    std::stop_token moved;  ///< stops when another server becomes the primary
  };

  /// What a message from a sentinel means.
  struct sentinel_event {
    bool needs_question = false;
    std::optional<net::endpoint> chosen;  ///< the next primary, chosen by this sentinel
  };

  /// The settings must outlive it, and their TLS files are loaded.
  explicit sentinels(const settings&);

  /// `moved` is called from any thread whenever the primary has changed. Set once, before any other call.
  void when_moved(std::function<void()> moved) { moved_ = std::move(moved); }

  [[nodiscard]] std::size_t count() const noexcept { return settings_.sentinels->at.size(); }
  /// The interval for each sentinel, so that one question is asked per second in all.
  [[nodiscard]] milliseconds between_questions() const noexcept;

  /// Asks them in turn, starting with the one that answered last. Blocks; throws storage::failure, with the remedy.
  [[nodiscard]] primary find(const limit&);
  /// Opens a connection to that sentinel, for question() and, from now on, messages about every change. If the user may
  /// not subscribe, `refusal` says so. Blocks; throws storage::failure, net::broken, malformed.
  [[nodiscard]] std::unique_ptr<connection> subscribe(std::size_t which, const limit&, std::string& refusal) const;
  /// Asks for the service and for the address of its primary.
  [[nodiscard]] command question() const;
  /// Takes the replies to both. Returns the epoch in which the sentinel names the primary; empty if they are malformed.
  std::optional<std::int64_t> take_answer(const value& service, const value& at);
  [[nodiscard]] sentinel_event parse(const value& message) const;
  /// A sentinel has chosen that server in this epoch, and the server itself says that it is the primary.
  void promoted(net::endpoint at, std::int64_t epoch) { (void)record({std::move(at), epoch, true}); }
  /// A server cannot be used. Returns true if no sentinel has announced it; then find() may find another.
  [[nodiscard]] bool doubt(const net::endpoint&);
  /// Asks all of them, one after the other. Blocks.
  [[nodiscard]] std::vector<sentinel_view> views(const limit&) const;

 private:
  struct known_state {
    std::size_t first = 0;  ///< the sentinel to ask next
    primary_tracker primary;
    std::stop_source moved;
  };
  [[nodiscard]] primary_tracker::announcement ask_in_turn(const limit&);
  [[nodiscard]] limit share_of(const limit&) const;
  [[nodiscard]] std::unique_ptr<connection> greet(const net::endpoint&, const limit&) const;
  [[nodiscard]] command question_of_service() const;
  [[nodiscard]] command question_of_primary() const;
  [[nodiscard]] primary_tracker::announcement ask(connection&, const limit&) const;
  void look(const net::endpoint&, sentinel_view&, const limit&) const;
  primary record(primary_tracker::announcement);

  const settings& settings_;
  std::function<void()> moved_;
  runtime::guarded<known_state> known_;
};

}  // namespace holdfast::redis
