#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "store/claim.hpp"

namespace holdfast::core {

/// A claim with a lock delay: the store keeps it for longer than its holder counts on, so that whoever comes after a
/// holder that was lost comes some time later. What is released is free at once.
class delayed final : public seam::claim {
 public:
  /// `inner` was opened with a ttl of both.
  delayed(std::unique_ptr<seam::claim> inner, seam::milliseconds ttl, seam::milliseconds delay) noexcept
      : inner_(std::move(inner)), ttl_(ttl), delay_(delay) {}

  seam::task<seam::answer<seam::grant>> poll(seam::io&, limit) override;
  seam::task<seam::wake> wakeup(seam::io& i, limit l) override { return inner_->wakeup(i, std::move(l)); }
  seam::task<seam::answer<seam::instant>> renew(seam::io&, seam::milliseconds ttl, limit) override;
  seam::task<seam::answer<seam::instant>> downgrade(seam::io&, std::uint64_t fence, seam::milliseconds ttl,
                                                    limit) override;
  seam::task<seam::answer<seam::done>> release(seam::io& i, limit l) override {
    return inner_->release(i, std::move(l));
  }
  [[nodiscard]] std::uint64_t fence_of(std::string_view name) const noexcept override { return inner_->fence_of(name); }
  [[nodiscard]] std::uint64_t fence_of(const seam::owner_id& id) const noexcept override {
    return inner_->fence_of(id);
  }
  [[nodiscard]] std::size_t margin() const noexcept override { return inner_->margin(); }
  [[nodiscard]] bool has_parts() const noexcept override { return inner_->has_parts(); }

 private:
  [[nodiscard]] seam::instant earlier(seam::instant deadline) const noexcept;
  const std::unique_ptr<seam::claim> inner_;
  const seam::milliseconds ttl_, delay_;
};

}  // namespace holdfast::core
