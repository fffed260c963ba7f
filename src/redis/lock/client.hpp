#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "redis/lock/inspection.hpp"
#include "redis/lock/list_position.hpp"
#include "redis/lock/session.hpp"
#include "runtime/loop.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// The store on one Redis or Valkey server, or on a cluster of them. Waiters queue there, and a release hands the lock
/// to the first waiter that is alive, with one message.
class client final : public storage::backend, private storage::admin {
 public:
  using wiring = session::wiring;
  /// `inbox` has 16 characters and is never used by another client.
  client(const settings& s, const std::string& inbox, const wiring& connect) : session_(s, inbox, connect) {}
  /// Connects over sockets. Throws storage::failure.
  [[nodiscard]] static std::unique_ptr<client> open(const std::string& url, runtime::loop&);
  [[nodiscard]] static std::unique_ptr<client> open(settings, runtime::loop&);

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::claim> open_all(std::vector<storage::claim_spec>) override;
  [[nodiscard]] std::unique_ptr<storage::cell> open_cell(std::string name) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events& events) override { session_.events = &events; }
  void close() noexcept override { session_.server->close(); }
  [[nodiscard]] guarantees promises() const noexcept override;

  [[nodiscard]] session& shared() noexcept { return session_; }

 private:
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
  /// The records of clients that were read so far, by inbox, and the shards that did not reply.
  struct records {
    std::map<std::string, value> of;
    std::set<storage::shard> silent;
  };
  /// For each name, in order, its state, or an error if its keys are used for something else.
  using views = std::vector<storage::answer<inspection>>;
  [[nodiscard]] runtime::task<storage::answer<views>> look_at(runtime::io&, const std::vector<std::string>& names,
                                                              std::size_t holders, std::size_t waiters, records&,
                                                              limit);
  /// Reads the records of these clients, in order.
  [[nodiscard]] runtime::task<reply> records_of(runtime::io&, const std::vector<std::string>& inboxes, records&, limit);
  /// Unique names, the cursor to continue from, and the number of SCAN calls.
  struct found {
    std::set<std::string> names;
    std::string cursor;
    int steps = 0;
  };
  /// Searches until it has found some names, nothing is left, or `end` has passed.
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

  session session_;
};

}  // namespace holdfast::redis
