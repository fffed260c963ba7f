#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/claim.hpp"

namespace holdfast::storage {

/// Several claims as one: all or nothing. Whatever the order they were given in, its parts are asked for in the order
/// of their names, so that no two bundles wait for each other; and what it has got is renewed while it waits for more.
class bundle : public claim {
 public:
  /// At least one, no name twice; all but name and owner as in the first.
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
    bool gone = false;  ///< its release was answered
  };
  [[nodiscard]] std::vector<part>& parts() noexcept { return parts_; }

  /// All parts in one step. yes: each has its fence and deadline; no: none was taken. A store that cannot says no.
  virtual task<answer<done>> take_all(io&, limit);
  /// yes: until when at least all of the first `some` are ours; no: one of them is not.
  virtual task<answer<instant>> renew_first(io&, std::size_t some, milliseconds ttl, limit);
  /// yes: all of the first `some` were ours, or stood in the queue. Those that are gone are not asked for again.
  virtual task<answer<done>> release_first(io&, std::size_t some, limit);

 private:
  [[nodiscard]] instant nearest_deadline() const noexcept;
  task<answer<done>> start_over(io&, limit);

  backend& backend_;
  std::vector<part> parts_;
  std::size_t first_given_ = 0;
  std::size_t have_ = 0;      // parts that are ours, from the first on
  std::size_t known_ = 0;     // parts that the store may know of
  bool in_turn_ = false;      // they are not to be had all at once
  bool starts_over_ = false;  // one was lost while we waited for others
};

}  // namespace holdfast::storage
