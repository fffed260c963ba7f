#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// A message that a script has published to the inbox of this client.
struct message {
  enum class kind {
    grant,           ///< `owner` holds the lock now: `<fence> <server time in us> <length of the owner> <owner><key>`
    revoke_request,  ///< `owner` is asked to release: `?<fence> <length of the owner> <owner><reason>`
    loss,            ///< the lock of `owner` was broken: `!<owner>`
    change,          ///< the cell or lock `key` has changed: `~<key>`
  };
  kind what = kind::grant;
  std::uint64_t fence = 0;  ///< of the grant; in a revoke request, of the lease to release, or 0 for any
  std::int64_t server_time = 0;
  std::string_view owner{}, key{}, reason{};

  /// Returns nothing if the text is not such a message.
  [[nodiscard]] static std::optional<message> parse(std::string_view);
  /// Reads the revoke request in the reply to a renewal: `<fence> <reason>`.
  [[nodiscard]] static std::optional<message> of_renewal(std::string_view owner, std::string_view);
};

/// Where a claim waits for its grant. It enters the inbox before its first poll and leaves before it is destroyed.
struct addressee {
  struct grant {
    std::uint64_t fence;
    std::int64_t server_time;
  };
  runtime::signal called;
  runtime::guarded<std::optional<grant>> granted;
  std::uint16_t slot = 0;                                      ///< the slot of its lock
  std::atomic<storage::shard> listened_at{storage::no_shard};  ///< at its last poll
};

/// The claims of this client that wait, by owner. A claim does not change its owner while it is here.
class inbox {
 public:
  void add(std::string_view owner, addressee&);
  void remove(std::string_view owner) noexcept;
  /// Returns false if that owner does not wait here.
  [[nodiscard]] bool deliver(const message&);
  /// Wakes those for which bool(slot, listened_at) is true, so that they poll again.
  template <class F>
  void wake(F is_concerned) noexcept {
    waiting_.with([&](auto& all) {
      for (auto& [owner, who] : all) {
        if (is_concerned(who->slot, who->listened_at.load())) who->called.set();
      }
    });
  }

 private:
  runtime::guarded<std::unordered_map<std::string_view, addressee*>> waiting_;
};

}  // namespace holdfast::redis
