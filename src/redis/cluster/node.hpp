#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "net/url.hpp"
#include "redis/protocol/link.hpp"
#include "redis/transport/wire.hpp"

namespace holdfast::redis {

/// What is to be done at a node: a command, or none, which is to listen to our inbox in a slot. `abandoned` is as in
/// link::call().
struct errand {
  const command* what;
  std::uint16_t slot;
  std::optional<abandoned_command>* abandoned;
};

/// One node of a cluster, and the wire to it. What it says by itself is passed on, with its shard.
class node final : private listener {
 public:
  /// Connects when first used. It does not say who we are: that stands at the node that has the slot of our record.
  node(net::url::place, std::uint64_t serial, const settings&, const identity&, runtime::loop&, listener& all);

  [[nodiscard]] const net::url::place& at() const noexcept { return at_; }
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }  ///< no other node ever has it
  /// Its place among those that are known now. Said once, before others know of it.
  void stand_at(std::size_t number) noexcept { number_ = number; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] storage::shard shard() const noexcept { return number_ + 1; }

  /// What the errand gives by reference must outlive the call.
  runtime::task<reply> run(runtime::io&, errand, limit);
  /// The same in a slot that is on its way to here; only this once.
  runtime::task<reply> run_asking(runtime::io&, errand, limit);
  [[nodiscard]] wire& way() noexcept { return way_; }
  [[nodiscard]] const wire& way() const noexcept { return way_; }
  [[nodiscard]] bool has_failed() const noexcept { return failed_; }  ///< the last errand got no answer

 private:
  void pushed(std::string_view message) override { all_nodes_.pushed(message); }
  void missed(storage::shard) noexcept override { all_nodes_.missed(shard()); }
  void in_doubt(storage::shard) noexcept override { all_nodes_.in_doubt(shard()); }
  void back() noexcept override { all_nodes_.back(); }
  [[nodiscard]] bool has_claims() const noexcept override { return all_nodes_.has_claims(); }
  void warned(std::string_view what) override { all_nodes_.warned(what); }

  const net::url::place at_;
  const std::uint64_t serial_;
  std::size_t number_ = 0;
  listener& all_nodes_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> probing_{false};  // one finds out whether it is back
  wire way_;
};

/// Why it was not done, in the words of the node; null: it was, or there is no answer. Of several replies the first is
/// that of the command with the key.
[[nodiscard]] const std::string* error_in(const reply&, const command* to) noexcept;
[[nodiscard]] bool is_unreachable(const reply&) noexcept;

}  // namespace holdfast::redis
