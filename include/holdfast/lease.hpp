#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/async.hpp"
#include "holdfast/limit.hpp"

namespace holdfast {

namespace core {
class lease_state;
}
namespace detail {
class service;
}

enum class released {
  yes,      ///< it was ours and is free now, or was handed to the next
  lost,     ///< it had ended before: what was done under it may have been done by two
  unknown,  ///< the store did not answer in time, or was not waited for; free after its ttl at the latest
};

/// One holding of a lock. Move-only; may be used, moved and released on any thread, one thread at a time, except
/// held(), remaining(), deadline(), margin(), fence(), lost_token() and revoke_requested(), which any thread may call
/// at any time.
class [[nodiscard]] lease {
 public:
  lease() noexcept = default;  ///< holds nothing
  lease(lease&&) noexcept;
  lease& operator=(lease&&) noexcept;  ///< releases what it held
  ~lease();                            ///< releases; bounded, never throws

  /// Not released, not lost, before its deadline. Local: reads a clock.
  [[nodiscard]] bool held() const noexcept;
  [[nodiscard]] std::uint64_t fence() const noexcept;  ///< 0 when it never held anything
  /// Of a lease of several names: the fence of this one; 0 when it is not among them. fence() and name() are those of
  /// the name that was given first.
  [[nodiscard]] std::uint64_t fence(std::string_view name) const noexcept;
  [[nodiscard]] std::string_view name() const noexcept;
  /// The id of this holder: 32 hexadecimal digits. Local hand-over keeps it; the fence tells its leases apart.
  [[nodiscard]] std::string owner() const;
  /// Held for certain until then, unless renewed meanwhile; max() where the store needs no ttl, min() when not held. Of
  /// a lock that was waited for it may be much nearer than the ttl at first: a grant on behalf of one who waits is
  /// short.
  [[nodiscard]] boot_clock::time_point deadline() const noexcept;
  [[nodiscard]] boot_clock::duration remaining() const noexcept;  ///< until the deadline; 0 when not held
  /// Of Redlock: at how many servers more than a majority it is held, as far as is known; so many may lose it, and it
  /// is still ours. It grows as late votes come in, and is repaired at renewals. 0 when not held, and where one server
  /// decides. Of several names the smallest.
  [[nodiscard]] std::size_t margin() const noexcept;
  /// Stops when the lease is lost, not when it is released.
  [[nodiscard]] std::stop_token lost_token() const;
  /// Stops when somebody asks us to let go, by store::revoke(). It is held on, until it is released.
  [[nodiscard]] std::stop_token revoke_requested() const;

  /// Held for ttl from now at least, and the ttl of all later renewals; never shortens. False: it was lost. Throws
  /// lock_error when the store fails, or gives no answer for its patience or half of what is left; the old deadline
  /// stands, and the lease is renewed in the background as before.
  bool renew(std::chrono::milliseconds ttl);
  /// Gives it back. Waits for the answer, but no longer than 1 s or the deadline; on the store's executor not at all
  /// (unknown). A second call does nothing but repeat what is known by then.
  released release() noexcept;
  [[nodiscard]] awaitable<released> async_release();

 private:
  friend class detail::service;
  lease(std::shared_ptr<detail::service>, std::shared_ptr<core::lease_state>) noexcept;
  void end() noexcept;
  std::shared_ptr<detail::service> service_;
  std::shared_ptr<core::lease_state> state_;
};

}  // namespace holdfast
