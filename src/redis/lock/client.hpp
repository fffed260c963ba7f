#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "redis/lock/inbox.hpp"
#include "redis/lock/inspection.hpp"
#include "redis/lock/list_position.hpp"
#include "redis/lock/replica_wait.hpp"
#include "redis/lock/watchers.hpp"
#include "redis/protocol/script.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/protocol/transport.hpp"
#include "runtime/loop.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// The store on one Redis or Valkey server, or on a cluster of them: waiters stand in a queue there, and whoever
/// releases a lock hands it to the first of them that is alive, by one message.
class client final : public storage::backend, private storage::admin, private listener {
 public:
  /// How the server is reached; who listens is told.
  using wiring = std::function<std::unique_ptr<transport>(const identity&, listener&)>;
  /// `inbox` is 16 characters, never used by another client.
  client(const settings&, const std::string& inbox, const wiring&);
  /// Over sockets. Throws storage::failure.
  [[nodiscard]] static std::unique_ptr<client> open(const std::string& url, runtime::loop&);
  [[nodiscard]] static std::unique_ptr<client> open(settings, runtime::loop&);

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::claim> open_all(std::vector<storage::claim_spec>) override;
  [[nodiscard]] std::unique_ptr<storage::cell> open_cell(std::string name) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events& events) override { events_ = &events; }
  void close() noexcept override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  friend class cell;
  friend class joint;
  friend class place;
  friend class voter;
  [[nodiscard]] runtime::task<storage::answer<state>> inspect(runtime::io&, std::string name, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> revoke(runtime::io&, std::string name, std::string reason,
                                                                     std::uint64_t fence, limit) override;
  [[nodiscard]] runtime::task<storage::answer<listing>> list(runtime::io&, std::string prefix, std::string after,
                                                             std::size_t most, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> break_lock(runtime::io&, storage::break_request,
                                                                         limit) override;
  [[nodiscard]] runtime::task<storage::answer<std::vector<finding>>> examine(runtime::io&, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> resize(runtime::io&, std::string name,
                                                                     std::uint32_t whole, limit) override;
  void pushed(std::string_view message) override;
  void missed(storage::shard) noexcept override;
  void in_doubt(storage::shard) noexcept override;
  void back() noexcept override;
  [[nodiscard]] bool has_claims() const noexcept override { return claims_ != 0; }
  void warned(std::string_view what) override;
  /// How the channels begin by which those at this lock are told something.
  [[nodiscard]] std::string inboxes_of(std::string_view lock) const;
  void tell(const plea&);                     ///< to whoever is asked
  void tell_of_loss(std::string_view owner);  ///< to whoever had it
  /// What clients have written down of themselves, as far as it is known already, by their inboxes; and where nobody
  /// answers who knows more.
  struct records {
    std::map<std::string, value> of;
    std::set<storage::shard> silent;
  };
  /// What there is of each name, in that order; of one whose keys are used for something else, why not.
  using views = std::vector<storage::answer<inspection>>;
  [[nodiscard]] runtime::task<storage::answer<views>> look_at(runtime::io&, const std::vector<std::string>& names,
                                                              std::size_t holders, std::size_t waiters, records&,
                                                              limit);
  /// What these clients have written down of themselves, in that order.
  [[nodiscard]] runtime::task<reply> records_of(runtime::io&, const std::vector<std::string>& inboxes, records&, limit);
  /// Names, each once; where to go on; and how many steps of the server it took.
  struct found {
    std::set<std::string> names;
    std::string cursor;
    int steps = 0;
  };
  /// Until there are some, or nothing is left, or until then.
  [[nodiscard]] runtime::task<storage::answer<found>> search(runtime::io&, transport& part, std::string prefix,
                                                             std::string cursor, runtime::instant end, limit);
  [[nodiscard]] runtime::task<storage::answer<std::vector<listing::entry>>> look_through(runtime::io&,
                                                                                         std::set<std::string> names,
                                                                                         records&, limit);
  struct listing_page {
    listing is;
    std::set<std::string> seen;
    records of_clients;
  };
  [[nodiscard]] runtime::task<storage::answer<int>> list_some(runtime::io&, const std::string& prefix,
                                                              list_position& from, listing_page&, runtime::instant end,
                                                              limit);
  /// Runs a script, and loads it first where it must be. The command must outlive the call.
  [[nodiscard]] runtime::task<reply> run(runtime::io&, const script&, const command&, limit,
                                         std::optional<abandoned_command>* = nullptr);
  /// Of a release whose store ends: nobody will hear that the server does not know the script, and ask again. So it
  /// goes along, once more.
  void leave_it_to_the_server(const runtime::io&, const script&, const command&, const limit&);
  /// The same of one that may grant. `missing` is why that does not count yet: too few replicas have it. It may count
  /// when it is asked for again, and has to be given back otherwise.
  [[nodiscard]] runtime::task<reply> run_grant(runtime::io&, const script&, const command&, limit,
                                               std::optional<abandoned_command>*,
                                               std::optional<storage::failure>& missing);
  [[nodiscard]] runtime::task<reply> run_and_wait(runtime::io&, const script&, const command&, limit,
                                                  std::optional<abandoned_command>*,
                                                  std::optional<storage::failure>& missing);

  const settings settings_;
  const std::string id_;       // of our inbox
  const std::string inboxes_;  // how channels begin
  replica_wait wait_{settings_};
  inbox inbox_;
  std::atomic<std::size_t> claims_{0};
  watchers watchers_;
  storage::backend_events* events_ = nullptr;
  const std::unique_ptr<transport> transport_;
};

}  // namespace holdfast::redis
