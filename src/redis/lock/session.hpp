#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "redis/lock/inbox.hpp"
#include "redis/lock/replica_wait.hpp"
#include "redis/lock/watchers.hpp"
#include "redis/protocol/script.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/protocol/transport.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// What a client shares with its claims, cells and votes: the connections to the server, and the tables of those that
/// wait for its messages. Thread-safe.
struct session final : private listener {
  /// Connects to the server; its messages go to the listener.
  using wiring = std::function<std::unique_ptr<transport>(const identity&, listener&)>;
  /// `id` has 16 characters and is never used again.
  session(const settings&, const std::string& id, const wiring&);

  /// Runs a script, and loads it first if the server does not know it. The command must outlive the call.
  [[nodiscard]] runtime::task<reply> run(runtime::io&, const script&, const command&, limit,
                                         std::optional<abandoned_command>* = nullptr);
  /// Same as run(), for a script that may grant a lock. `missing` says why the grant does not count yet: too few
  /// replicas have it. It may count when the claim polls again, and must be released otherwise.
  [[nodiscard]] runtime::task<reply> run_grant(runtime::io&, const script&, const command&, limit,
                                               std::optional<abandoned_command>*,
                                               std::optional<storage::failure>& missing);
  /// Sends a release once more, with its script, when the store closes: no caller will read the reply that the server
  /// does not know the script.
  void leave_to_server(const runtime::io&, const script&, const command&, const limit&);
  /// Passes a revoke request or a loss on to the holder.
  void notify_holder(const message&);
  /// The prefix of the channels through which the clients at this lock receive messages.
  [[nodiscard]] std::string inboxes_of(std::string_view lock) const;

  const settings config;
  const std::string id;
  const std::string inboxes;  ///< the prefix of all channels
  replica_wait wait{config};
  inbox waiters;
  watchers cell_watchers;
  std::atomic<std::size_t> claims{0};
  storage::backend_events* events = nullptr;  ///< set by start()
  const std::unique_ptr<transport> server;

 private:
  void pushed(std::string_view message) override;
  void missed(storage::shard) noexcept override;
  void in_doubt(storage::shard) noexcept override;
  void back() noexcept override;
  [[nodiscard]] bool has_claims() const noexcept override { return claims != 0; }
  void warned(std::string_view what) override;
  void take_grant(const message&);
  [[nodiscard]] runtime::task<reply> run_and_wait(runtime::io&, const script&, const command&, limit,
                                                  std::optional<abandoned_command>*,
                                                  std::optional<storage::failure>& missing);
};

}  // namespace holdfast::redis
