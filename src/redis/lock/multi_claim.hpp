#pragma once
#include <optional>
#include <vector>

#include "redis/lock/fence_upkeep.hpp"
#include "redis/protocol/transport.hpp"
#include "storage/bundle.hpp"

namespace holdfast::redis {

struct session;
class claim;

/// A claim to several exclusive locks. Each step covers all of them in one round trip.
class multi_claim final : public storage::bundle {
 public:
  multi_claim(storage::backend&, session&, std::vector<storage::claim_spec>);

 private:
  static redis::claim& at(part&);
  runtime::task<storage::answer<storage::done>> take_all(runtime::io&, limit) override;
  runtime::task<storage::answer<runtime::instant>> renew_first(runtime::io&, std::size_t some,
                                                               storage::milliseconds ttl, limit) override;
  runtime::task<storage::answer<storage::done>> release_first(runtime::io&, std::size_t some, limit) override;
  /// Passes on the revoke requests in the reply to a successful renewal. Returns false if the reply has none.
  bool take_revoke_requests(const reply&);

  session& session_;
  std::optional<abandoned_command> abandoned_;  // a call that got no reply and may still acquire the locks
  fence_upkeep upkeep_;
};

}  // namespace holdfast::redis
