#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redis/cluster/node.hpp"
#include "redis/cluster/slot_map.hpp"
#include "redis/protocol/transport.hpp"
#include "runtime/loop.hpp"
#include "runtime/task_group.hpp"

namespace holdfast::redis {

/// The transport to a cluster, made of one for each node in use. A command goes to the node that has the slot of its
/// key, as far as we know, and from there wherever the nodes redirect it. The slot map is loaded again when a node
/// redirects a command or cannot be reached.
class cluster final : public transport {
 public:
  /// Connects when first used. The TLS files of the settings are loaded, because new nodes may be met at any time.
  cluster(const settings&, const identity&, runtime::loop&, listener&);

  runtime::task<reply> call(runtime::io&, const command&, limit, std::optional<abandoned_command>*) override;
  void follow(const abandoned_command&, const command&) noexcept override;
  [[nodiscard]] storage::shard shard_of(std::uint16_t slot) const noexcept override;
  [[nodiscard]] bool listens(const std::string& key) const noexcept override;
  runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string& key, limit) override;
  void post(const command&) override;
  /// The addresses of the primaries.
  runtime::task<storage::answer<std::vector<std::string>>> parts(runtime::io&, limit) override;
  [[nodiscard]] std::shared_ptr<transport> part(const std::string& name) override;
  void close() noexcept override;

 private:
  runtime::task<reply> run(runtime::io&, routed_command, limit);
  runtime::task<slot_map::user> new_owner(runtime::io&, const node& of, routed_command, limit);
  runtime::task<void> introduce(bool already);

  const settings settings_;
  const identity me_;
  runtime::loop& loop_;
  slot_map map_;
  std::stop_source ending_;
  std::atomic<bool> introduced_{false};
  runtime::task_group tasks_{loop_};
};

}  // namespace holdfast::redis
