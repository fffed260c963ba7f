#pragma once
#include <optional>
#include <vector>

#include "redis/lock/fence_upkeep.hpp"
#include "redis/protocol/transport.hpp"
#include "storage/bundle.hpp"

namespace holdfast::redis {

class client;
class place;

/// Several whole locks: each step of all of them in one round trip.
class joint final : public storage::bundle {
 public:
  joint(client&, std::vector<storage::claim_spec>);

 private:
  static place& at(part&);
  runtime::task<storage::answer<storage::done>> take_all(runtime::io&, limit) override;
  runtime::task<storage::answer<runtime::instant>> renew_first(runtime::io&, std::size_t some,
                                                               storage::milliseconds ttl, limit) override;
  runtime::task<storage::answer<storage::done>> release_first(runtime::io&, std::size_t some, limit) override;
  /// They were renewed, and some of them are wanted by somebody.
  bool asked_to_let_go(const reply&);

  client& client_;
  std::optional<abandoned_command> abandoned_;  // a step that got no answer, and may take the locks yet
  fence_upkeep upkeep_;
};

}  // namespace holdfast::redis
