#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/claim.hpp"

namespace holdfast::storage {

/// Several claims as one: all or nothing. Its parts are acquired in the order of their names, so that two bundles never
/// wait for each other. Parts that it holds are renewed while it waits for the next.
class bundle : public claim {
 public:
  /// At least one spec, and no name twice. All specs agree except in name and owner.
  bundle(backend&, std::vector<claim_spec>);

  task<answer<grant>> poll(io&, limit) override;
  task<wake> wakeup(io&, limit) override;
  task<answer<instant>> renew(io&, milliseconds ttl, limit) override;
  task<answer<done>> release(io&, limit) override;
  [[nodiscard]] std::uint64_t fence_of(std::string_view name) const noexcept override;
  [[nodiscard]] std::uint64_t fence_of(const owner_id&) const noexcept override;
  [[nodiscard]] std::size_t margin() const noexcept override;
  [[nodiscard]] bool has_parts() const noexcept override { return true; }
  [[nodiscard]] shard lies_on() const noexcept override;

 protected:
  struct part {
    claim_spec spec;
    std::unique_ptr<claim> place;
    std::uint64_t fence = 0;
    instant deadline{};
    bool gone = false;  ///< its release was confirmed
  };
  [[nodiscard]] std::vector<part>& parts() noexcept { return parts_; }

  /// Acquires all parts in one step. yes: each has its fence and deadline; no: none was acquired, or the store cannot
  /// do it.
  virtual task<answer<done>> take_all(io&, limit);
  /// Renews the first `some` parts. yes: the earliest of their deadlines; no: one of them is lost.
  virtual task<answer<instant>> renew_first(io&, std::size_t some, milliseconds ttl, limit);
  /// Releases the first `some` parts. yes: all of them were held or queued. Parts that are gone are not released again.
  virtual task<answer<done>> release_first(io&, std::size_t some, limit);

 private:
  [[nodiscard]] instant nearest_deadline() const noexcept;
  task<answer<done>> start_over(io&, limit);

  backend& backend_;
  std::vector<part> parts_;
  std::size_t first_given_ = 0;
  std::size_t have_ = 0;      // parts that are ours, counted from the first
  std::size_t known_ = 0;     // parts that the store may know
  bool in_turn_ = false;      // the parts are acquired one after the other
  bool starts_over_ = false;  // a part was lost while we waited for another
};

}  // namespace holdfast::storage
