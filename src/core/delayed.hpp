#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "storage/claim.hpp"

namespace holdfast::core {

/// A claim with a lock delay: the store keeps it for longer than its holder counts on. After a loss, the next holder
/// therefore comes some time later. A released lock is free at once.
class delayed final : public storage::claim {
 public:
  /// `inner` was opened with the sum of both as its ttl.
  delayed(std::unique_ptr<storage::claim> inner, storage::milliseconds ttl, storage::milliseconds delay) noexcept
      : inner_(std::move(inner)), ttl_(ttl), delay_(delay) {}

  storage::task<storage::answer<storage::grant>> poll(storage::io&, limit) override;
  storage::task<storage::wake> wakeup(storage::io& i, limit l) override { return inner_->wakeup(i, std::move(l)); }
  storage::task<storage::answer<storage::instant>> renew(storage::io&, storage::milliseconds ttl, limit) override;
  storage::task<storage::answer<storage::instant>> downgrade(storage::io&, std::uint64_t fence,
                                                             storage::milliseconds ttl, limit) override;
  storage::task<storage::answer<storage::done>> release(storage::io& i, limit l) override {
    return inner_->release(i, std::move(l));
  }
  [[nodiscard]] std::uint64_t fence_of(std::string_view name) const noexcept override { return inner_->fence_of(name); }
  [[nodiscard]] std::uint64_t fence_of(const storage::owner_id& id) const noexcept override {
    return inner_->fence_of(id);
  }
  [[nodiscard]] std::size_t margin() const noexcept override { return inner_->margin(); }
  [[nodiscard]] bool has_parts() const noexcept override { return inner_->has_parts(); }
  [[nodiscard]] storage::shard lies_on() const noexcept override { return inner_->lies_on(); }

 private:
  [[nodiscard]] storage::instant earlier(storage::instant deadline) const noexcept;
  const std::unique_ptr<storage::claim> inner_;
  const storage::milliseconds ttl_, delay_;
};

}  // namespace holdfast::core
