#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "net/url.hpp"
#include "redis/protocol/transport.hpp"
#include "redis/transport/server_transport.hpp"

namespace holdfast::redis {

/// A command for the node that has a slot; null: subscribe to our inbox in that slot. `abandoned` is as in
/// transport::call().
struct routed_command {
  const command* what;
  std::uint16_t slot;
  std::optional<abandoned_command>* abandoned;
};

/// One node of a cluster, and the transport to it. Its messages are passed on, with its shard.
class node final : private listener {
 public:
  /// Connects when first used. It sends no introduction, which belongs to the node that has the slot of our record.
  node(net::endpoint, std::uint64_t serial, const settings&, const identity&, runtime::loop&, listener& all);

  [[nodiscard]] const net::endpoint& at() const noexcept { return at_; }
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }  ///< no other node ever has it
  /// Its index among the nodes that are known now. Set once, before other threads see the node.
  void stand_at(std::size_t number) noexcept { number_ = number; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] storage::shard shard() const noexcept { return number_ + 1; }

  /// What is passed by reference must outlive the call.
  runtime::task<reply> run(runtime::io&, routed_command, limit);
  /// Runs one command in a slot that is migrating to this node.
  runtime::task<reply> run_asking(runtime::io&, routed_command, limit);
  [[nodiscard]] server_transport& to_server() noexcept { return to_server_; }
  [[nodiscard]] const server_transport& to_server() const noexcept { return to_server_; }
  [[nodiscard]] bool has_failed() const noexcept { return failed_; }  ///< the last command got no answer

 private:
  void pushed(std::string_view message) override { all_nodes_.pushed(message); }
  void missed(storage::shard) noexcept override { all_nodes_.missed(shard()); }
  void in_doubt(storage::shard) noexcept override { all_nodes_.in_doubt(shard()); }
  void back() noexcept override { all_nodes_.back(); }
  [[nodiscard]] bool has_claims() const noexcept override { return all_nodes_.has_claims(); }
  void warned(std::string_view what) override { all_nodes_.warned(what); }

  const net::endpoint at_;
  const std::uint64_t serial_;
  std::size_t number_ = 0;
  listener& all_nodes_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> probing_{false};  // a caller is finding out whether it is back
  server_transport to_server_;
};

/// The error that the node replied with; null if there is none, or no reply. Of several replies the first belongs to
/// the command with the key.
[[nodiscard]] const std::string* error_in(const reply&, const command* to) noexcept;
[[nodiscard]] bool is_unreachable(const reply&) noexcept;

}  // namespace holdfast::redis
