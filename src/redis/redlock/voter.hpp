#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "redis/lock/client.hpp"
#include "runtime/clock.hpp"
#include "storage/voter.hpp"

namespace holdfast::redis {

/// One Redis or Valkey server of several, with one vote.
///
/// A server that was started recently may have lost locks that are still held. It does not vote, and its renewals do
/// not count, until all of them have expired, unless it writes everything to disk at once.
class voter final : public storage::voter {
 public:
  struct rules {
    std::chrono::milliseconds max_ttl;  ///< the longest ttl of a lock in this store
    bool young_ones_vote;               ///< servers vote regardless of their uptime
  };
  voter(std::unique_ptr<client>, rules);

  [[nodiscard]] bool is_reached() const noexcept override;
  runtime::task<std::optional<storage::failure>> reach(runtime::io&, limit) override;
  runtime::task<storage::answer<storage::vote>> ask(runtime::io&, const storage::candidate&, limit) override;
  runtime::task<storage::answer<storage::done>> raise_fence(runtime::io&, const storage::candidate&,
                                                            std::uint64_t fence, limit) override;
  runtime::task<storage::answer<storage::done>> renew(runtime::io&, const storage::candidate&,
                                                      std::chrono::milliseconds ttl, limit) override;
  runtime::task<storage::answer<storage::done>> repair(runtime::io&, const storage::candidate&, std::uint64_t fence,
                                                       std::chrono::milliseconds ttl, limit) override;
  runtime::task<storage::answer<storage::done>> withdraw(runtime::io&, const storage::candidate&, bool leaves,
                                                         limit) override;
  runtime::task<storage::answer<storage::done>> force_release(runtime::io&, storage::break_request, limit) override;
  runtime::task<storage::answer<std::string>> identity(runtime::io&, limit) override;
  [[nodiscard]] std::unique_ptr<storage::watching> watch(const std::string& name, runtime::signal&) override;
  [[nodiscard]] std::string where() const override;
  [[nodiscard]] storage::backend& behind() noexcept override { return *client_; }

 private:
  [[nodiscard]] std::string owner_of(const storage::candidate&) const;   ///< the value of K
  [[nodiscard]] std::string waiter_of(const storage::candidate&) const;  ///< the same for all attempts
  /// Runs a script on a connection to a server that may vote. Fails if the connection is another one when the reply
  /// comes, because then it is not known which server carried the script out.
  [[nodiscard]] runtime::task<reply> run_of_age(runtime::io&, const script&, const command&, limit);
  runtime::task<std::optional<storage::failure>> come_of_age(runtime::io&, limit);
  runtime::task<bool> writes_at_once(runtime::io&, limit);
  [[nodiscard]] runtime::task<storage::answer<storage::done>> write_fence(runtime::io&, const command&, limit);

  const std::unique_ptr<client> client_;
  session& session_;
  const rules rules_;
  // Accessed on the loop:
  std::uint64_t known_ = 0;    // the connection whose server reported its uptime
  runtime::instant of_age_{};  // when that server may vote
};

}  // namespace holdfast::redis
