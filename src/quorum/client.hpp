#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "quorum/server_set.hpp"
#include "runtime/io.hpp"
#include "storage/claim.hpp"
#include "storage/voter.hpp"

namespace holdfast::quorum {

/// A store made of several that know nothing of one another (Redlock): whoever has the votes of a majority, within the
/// time that they are good for, holds the lock. A voter that is dead, slow, refusing or erring is a vote against.
///
/// All votes are asked for at once, on the loop; a blocking caller hands the whole call over, and waits for one signal.
/// Nobody queues: N queues would elect N winners. So it is not fair.
class client final : public storage::backend, private storage::admin {
 public:
  struct settings {
    std::chrono::milliseconds max_ttl;     ///< no lease is longer: voters that restarted vote again after that time
    std::size_t min_margin = 0;            ///< a grant by less than a majority and so many more is none
    std::function<std::uint64_t()> clock;  ///< of this machine, in microseconds since 1970; any thread
    std::vector<finding> known{};          ///< about how it is set up: part of every examination
  };
  client(std::vector<std::unique_ptr<storage::voter>>, settings, runtime::io& home);

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events&) override;
  void close() noexcept override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  class claim;
  [[nodiscard]] storage::task<storage::answer<state>> inspect(storage::io&, std::string name, limit) override;
  [[nodiscard]] storage::task<storage::answer<storage::done>> revoke(storage::io&, std::string name, std::string reason,
                                                                     std::uint64_t fence, limit) override;
  [[nodiscard]] storage::task<storage::answer<listing>> list(storage::io&, std::string prefix, std::string after,
                                                             std::size_t most, limit) override;
  [[nodiscard]] storage::task<storage::answer<storage::done>> break_lock(storage::io&, storage::break_request,
                                                                         limit) override;
  [[nodiscard]] storage::task<storage::answer<std::vector<finding>>> examine(storage::io&, limit) override;
  /// What each of them says, if it does so in time.
  storage::task<round_of<state>> views_of(std::string name, limit);
  [[nodiscard]] storage::answer<state> common_view(round<state>&) const;
  storage::task<storage::answer<state>> inspect_here(std::string name, limit);
  storage::task<storage::answer<storage::done>> revoke_here(std::string name, std::string reason, std::uint64_t fence,
                                                            limit);
  storage::task<storage::answer<listing>> list_here(std::string prefix, std::string after, std::size_t most, limit);
  struct list_position;
  using servers = std::uint64_t;  ///< a bit for each
  /// Those that do not answer while a majority does.
  storage::task<storage::answer<servers>> silent_servers(limit);
  storage::task<std::optional<storage::failure>> look_at(std::vector<std::string> names, const list_position&,
                                                         servers silent, listing&, limit);
  storage::task<storage::answer<storage::done>> break_here(storage::break_request, limit);
  storage::task<storage::answer<storage::done>> said_by_all(round_of<storage::done>, limit, const char* otherwise);
  storage::task<storage::answer<std::vector<finding>>> examine_here(limit);

  const settings settings_;
  server_set all_;
  std::map<storage::owner_id, storage::owner_id>
      meant_by_;  // of home: the holder, by the call that is to break its lock
};

}  // namespace holdfast::quorum
