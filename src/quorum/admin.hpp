#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "quorum/server_set.hpp"
#include "storage/admin.hpp"
#include "storage/break_request.hpp"
#include "storage/owner.hpp"

namespace holdfast::quorum {

/// Operators' calls on a store of several servers. The replies of a majority decide.
class admin final : public storage::admin {
 public:
  /// `known`: findings about the setup of the store, part of every health check.
  admin(server_set& all, std::vector<finding> known) : all_(all), known_(std::move(known)) {}

  storage::task<storage::answer<state>> inspect(storage::io&, std::string name, limit) override;
  storage::task<storage::answer<listing>> list(storage::io&, std::string prefix, std::string after, std::size_t most,
                                               limit) override;
  storage::task<storage::answer<storage::done>> revoke(storage::io&, std::string name, std::string reason,
                                                       std::uint64_t fence, limit) override;
  /// First determines who holds the lock at a majority and whether that holder is meant, because a single server may
  /// know another fence. Then takes it from that holder at every server. Even if no holder is meant, all servers are
  /// asked, because an earlier reply to this call may have been lost.
  storage::task<storage::answer<storage::done>> break_lock(storage::io&, storage::break_request, limit) override;
  storage::task<storage::answer<std::vector<finding>>> examine(storage::io&, limit) override;

 private:
  /// The limit of one request to each server.
  [[nodiscard]] limit each_within(const limit&) const;
  /// Returns the replies of the servers that reply in time.
  storage::task<round_ptr<state>> views_of(std::string name, limit);
  [[nodiscard]] storage::answer<state> common_view(vote_round<state>&) const;
  /// A majority decides, but all servers are waited for: a server that acts later would act on the next holder.
  storage::task<storage::answer<storage::done>> settle_all(round_ptr<storage::done>, limit, const char* otherwise);
  struct list_position;
  using servers = std::uint64_t;  ///< a bit for each
  /// Returns the servers that do not answer while a majority does.
  storage::task<storage::answer<servers>> silent_servers(limit);
  /// Adds the names that are in use and that neither this page nor an earlier one shows.
  storage::task<std::optional<storage::failure>> look_at(std::vector<std::string> names, std::size_t listed_by,
                                                         const list_position& earlier, servers silent, listing& page,
                                                         limit);

  server_set& all_;
  const std::vector<finding> known_;
  // The holder that each unanswered break_lock() meant, by the id of the call. Used on the loop only.
  std::map<storage::owner_id, storage::owner_id> meant_by_;
};

}  // namespace holdfast::quorum
