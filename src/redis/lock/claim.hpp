#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "redis/lock/fence_upkeep.hpp"
#include "redis/lock/inbox.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/protocol/transport.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

struct session;

/// A claim to one lock at a server: waiting in its queue, or holding it.
class claim final : public storage::claim {
 public:
  claim(session&, storage::claim_spec);
  ~claim() override;

  runtime::task<storage::answer<storage::grant>> poll(runtime::io&, limit) override;
  runtime::task<runtime::wake> wakeup(runtime::io&, limit) override;
  runtime::task<storage::answer<runtime::instant>> renew(runtime::io&, storage::milliseconds ttl, limit) override;
  runtime::task<storage::answer<runtime::instant>> downgrade(runtime::io&, std::uint64_t fence,
                                                             storage::milliseconds ttl, limit) override;
  runtime::task<storage::answer<storage::done>> release(runtime::io&, limit) override;
  [[nodiscard]] storage::shard lies_on() const noexcept override;

  /// Sends a release behind an abandoned poll, which the server could carry out after the release and grant the lock.
  void undo_abandoned();
  /// Passes on the revoke request in the reply to a successful renewal. Returns false if the reply has none.
  bool take_revoke_request(const std::string& owner, const reply&);
  [[nodiscard]] const std::string& owner() const noexcept { return owner_; }
  [[nodiscard]] bool has_bad_name() const noexcept { return bad_name_; }
  [[nodiscard]] keys all_keys() const;

 private:
  /// Returns the grant that a message has reported, or nothing if the claim has to poll.
  std::optional<storage::grant> take_message(runtime::instant now);
  [[nodiscard]] const claim_scripts& mine() const noexcept;
  runtime::task<storage::answer<runtime::instant>> renew_as(runtime::io&, std::string owner, storage::milliseconds ttl,
                                                            runtime::instant sent, limit);
  runtime::task<storage::answer<storage::done>> release_by(runtime::io&, const script&, const command&, limit);
  runtime::task<storage::answer<storage::grant>> ask(runtime::io&, bool in_queue, limit);
  storage::answer<storage::grant> busy(runtime::io&, runtime::instant sent, const value&, bool in_queue);
  [[nodiscard]] std::uint64_t fences() const noexcept { return wants_.exclusive() ? fences_in_a_block : 1; }
  runtime::span varied(runtime::io&, storage::milliseconds interval) const;

  struct sample {
    runtime::instant sent;
    std::int64_t server_time;
    std::uint64_t fence;  // the last fence of the lock
  };
  session& session_;
  const std::string lock_;                   // its key; the others are derived from it
  const storage::milliseconds granted_for_;  // by a message
  std::string owner_;                        // a downgrade changes it
  const storage::share wants_;
  const storage::milliseconds ttl_;
  const bool queue_;
  const bool barges_;
  bool may_be_reader_ = false;  // a downgrade got no reply
  const bool bad_name_;
  const std::uint16_t slot_;  // in a cluster
  addressee waiting_;
  std::int64_t ticket_ = 0;
  std::uint64_t fence_ = 0;  // the first of our grant
  fence_upkeep upkeep_;
  std::optional<abandoned_command> abandoned_;  // a poll that got no reply
  std::optional<sample> sampled_;
  runtime::instant again_at_{};
};

}  // namespace holdfast::redis
