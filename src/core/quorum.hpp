#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/electorate.hpp"
#include "runtime/io.hpp"
#include "store/claim.hpp"
#include "store/voter.hpp"

namespace holdfast::core {

/// A store made of several that know nothing of one another (Redlock): whoever has the votes of a majority, within the
/// time that they are good for, holds the lock. A voter that is dead, slow, refusing or erring is a vote against.
///
/// All votes are asked for at once, on the loop; a blocking caller hands the whole call over, and waits for one signal.
/// Nobody queues: N queues would elect N winners. So it is not fair.
class quorum final : public seam::backend {
 public:
  struct settings {
    std::chrono::milliseconds max_ttl;     ///< no lease is longer: voters that restarted vote again after that time
    std::size_t min_margin = 0;            ///< a grant by less than a majority and so many more is none
    std::function<std::uint64_t()> clock;  ///< of this machine, in microseconds since 1970; any thread
    std::vector<finding> known{};          ///< about how it is set up: part of every examination
  };
  quorum(std::vector<std::unique_ptr<seam::voter>>, settings, runtime::io& home);

  [[nodiscard]] std::unique_ptr<seam::claim> open(seam::claim_spec) override;
  void when_in_doubt(std::function<void(seam::shard)> verify) override;
  void when_back(std::function<void()> back) override;
  void when_warned(std::function<void(std::string_view)> warn) override;
  [[nodiscard]] seam::task<seam::answer<state>> inspect(seam::io&, std::string name, limit) override;
  [[nodiscard]] seam::task<seam::answer<seam::done>> revoke(seam::io&, std::string name, std::string reason,
                                                            std::uint64_t fence, limit) override;
  [[nodiscard]] seam::task<seam::answer<listing>> list(seam::io&, std::string prefix, std::string after,
                                                       std::size_t most, limit) override;
  [[nodiscard]] seam::task<seam::answer<seam::done>> break_lock(seam::io&, seam::breaking, limit) override;
  void when_asked(std::function<void(seam::asking)>) override;
  [[nodiscard]] seam::task<seam::answer<std::vector<finding>>> examine(seam::io&, limit) override;
  void close() noexcept override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  class place;
  /// What each of them says, if it does so in time.
  seam::task<round_of<state>> views_of(std::string name, limit);
  [[nodiscard]] seam::answer<state> common_view(round<state>&) const;
  seam::task<seam::answer<state>> inspect_here(std::string name, limit);
  seam::task<seam::answer<seam::done>> revoke_here(std::string name, std::string reason, std::uint64_t fence, limit);
  seam::task<seam::answer<listing>> list_here(std::string prefix, std::string after, std::size_t most, limit);
  struct list_position;
  using servers = std::uint64_t;  ///< a bit for each
  /// Those that do not answer while a majority does.
  seam::task<seam::answer<servers>> silent_servers(limit);
  seam::task<std::optional<seam::failure>> look_at(std::vector<std::string> names, const list_position&, servers silent,
                                                   listing&, limit);
  seam::task<seam::answer<seam::done>> break_here(seam::breaking, limit);
  seam::task<seam::answer<seam::done>> said_by_all(round_of<seam::done>, limit, const char* otherwise);
  seam::task<seam::answer<std::vector<finding>>> examine_here(limit);

  const settings settings_;
  electorate all_;
  std::map<seam::owner_id, seam::owner_id> meant_by_;  // of home: the holder, by the call that is to break its lock
};

}  // namespace holdfast::core
