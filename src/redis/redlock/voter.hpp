#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "redis/lock/client.hpp"
#include "runtime/clock.hpp"
#include "storage/voter.hpp"

namespace holdfast::redis {

/// One Redis or Valkey server as one vote of several.
///
/// A server that was started a short time ago may have lost locks that are still held: it does not vote, and what it
/// renews does not count, until all of them are over; unless it says that it writes everything to disk at once.
class voter final : public storage::voter {
 public:
  struct rules {
    std::chrono::milliseconds max_ttl;  ///< no lock of this store lasts longer, unless it is renewed
    bool young_ones_vote;               ///< a server votes however young it is
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
  [[nodiscard]] std::string owner_of(const storage::candidate&) const;   ///< what stands in K
  [[nodiscard]] std::string waiter_of(const storage::candidate&) const;  ///< the same for all its attempts
  /// Runs a step on a connection to a server that may vote. A failure also if it is another connection when the reply
  /// comes: then nobody knows which server it was.
  [[nodiscard]] runtime::task<reply> run_of_age(runtime::io&, const script&, const command&, limit);
  runtime::task<std::optional<storage::failure>> come_of_age(runtime::io&, limit);
  runtime::task<bool> writes_at_once(runtime::io&, limit);
  [[nodiscard]] runtime::task<storage::answer<storage::done>> write_fence(runtime::io&, const command&, limit);

  const std::unique_ptr<client> client_;
  session& session_;
  const rules rules_;
  // Of the loop.
  std::uint64_t known_ = 0;    // the connection whose server was asked how old it is
  runtime::instant of_age_{};  // when that one may vote
};

}  // namespace holdfast::redis
