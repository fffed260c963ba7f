#pragma once
#include <optional>
#include <vector>

#include "redis/fence_upkeep.hpp"
#include "redis/link.hpp"
#include "store/bundle.hpp"

namespace holdfast::redis {

class client;
class place;

/// Several whole locks: each step of all of them in one round trip.
class joint final : public seam::bundle {
 public:
  joint(client&, std::vector<seam::claim_spec>);

 private:
  static place& at(part&);
  runtime::task<seam::answer<seam::done>> take_all(runtime::io&, limit) override;
  runtime::task<seam::answer<runtime::instant>> renew_first(runtime::io&, std::size_t some, seam::milliseconds ttl,
                                                            limit) override;
  runtime::task<seam::answer<seam::done>> release_first(runtime::io&, std::size_t some, limit) override;
  /// They were renewed, and some of them are wanted by somebody.
  bool asked_to_let_go(const reply&);

  client& client_;
  std::optional<left_behind> left_;  // a step that got no answer, and may take the locks yet
  fence_upkeep upkeep_;
};

}  // namespace holdfast::redis
