#pragma once
#include <optional>
#include <vector>

#include "redis/lock/fence_upkeep.hpp"
#include "redis/protocol/transport.hpp"
#include "storage/bundle.hpp"

namespace holdfast::redis {

struct session;
class claim;

/// Several whole locks: each step of all of them in one round trip.
class multi_claim final : public storage::bundle {
 public:
  multi_claim(storage::backend&, session&, std::vector<storage::claim_spec>);

 private:
  static redis::claim& at(part&);
  runtime::task<storage::answer<storage::done>> take_all(runtime::io&, limit) override;
  runtime::task<storage::answer<runtime::instant>> renew_first(runtime::io&, std::size_t some,
                                                               storage::milliseconds ttl, limit) override;
  runtime::task<storage::answer<storage::done>> release_first(runtime::io&, std::size_t some, limit) override;
  /// They were renewed, and some of them are wanted by somebody.
  bool asked_to_let_go(const reply&);

  session& session_;
  std::optional<abandoned_command> abandoned_;  // a step that got no answer, and may take the locks yet
  fence_upkeep upkeep_;
};

}  // namespace holdfast::redis
