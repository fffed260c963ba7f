#pragma once
#include <holdfast/election.hpp>
#include <holdfast/lease.hpp>
#include <optional>
#include <utility>

namespace holdfast::cli {

/// What was got: a lease, or one as the leader of an election, which is announced to all.
class tenure {
 public:
  tenure() noexcept = default;  ///< holds nothing
  explicit tenure(lease l) noexcept : plain_(std::move(l)) {}
  explicit tenure(leadership l) noexcept : leads_(std::move(l)) {}

  [[nodiscard]] const lease& as_lease() const noexcept { return leads_ ? leads_->as_lease() : plain_; }
  bool renew(std::chrono::milliseconds ttl) { return leads_ ? leads_->renew(ttl) : plain_.renew(ttl); }
  released give_back() noexcept { return leads_ ? leads_->resign() : plain_.release(); }

 private:
  lease plain_;
  std::optional<leadership> leads_;
};

}  // namespace holdfast::cli
