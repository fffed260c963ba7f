#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redis/cluster/node.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/protocol/link.hpp"
#include "runtime/loop.hpp"
#include "runtime/nursery.hpp"

namespace holdfast::redis {

/// The link to a cluster: a wire to each node in use. A command goes where the slot of its key is, as far as we know,
/// and on from there as the nodes say. Who has which slot is asked again when a node sends us elsewhere, or is not
/// there.
class cluster final : public link {
 public:
  /// Connects when first used. The settings have their TLS files loaded: nodes are contacted at any time.
  cluster(const settings&, const identity&, runtime::loop&, listener&);

  runtime::task<reply> call(runtime::io&, const command&, limit, std::optional<abandoned_command>*) override;
  void follow(const abandoned_command&, const command&) noexcept override;
  [[nodiscard]] storage::shard shard_of(std::uint16_t slot) const noexcept override;
  [[nodiscard]] bool listens(const std::string& key) const noexcept override;
  runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string& key, limit) override;
  void post(const command&) override;
  /// The primaries.
  runtime::task<storage::answer<std::vector<std::string>>> parts(runtime::io&, limit) override;
  [[nodiscard]] std::shared_ptr<link> part(const std::string& name) override;
  void close() noexcept override;

 private:
  runtime::task<reply> run(runtime::io&, errand, limit);
  runtime::task<slot_map::user> find_heir(runtime::io&, const node& of, errand, limit);
  runtime::task<void> introduce(bool already);

  const settings settings_;
  const identity me_;
  runtime::loop& loop_;
  slot_map map_;
  std::stop_source ending_;
  std::atomic<bool> introduced_{false};
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
