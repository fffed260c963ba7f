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

/// What a server tells a waiter, the lock is yours: `<fence> <server time in us> <length of the owner> <owner><key>`.
struct message {
  std::uint64_t fence = 0;
  std::int64_t server_time = 0;
  std::string_view owner;
  std::string_view lock;  ///< its key

  /// Nothing: it is not one of ours.
  [[nodiscard]] static std::optional<message> parse(std::string_view);
};

/// What a server tells a holder, somebody asks you to let go: `?<fence> <length of the owner> <owner><reason>`.
struct plea {
  std::uint64_t fence = 0;  ///< of the lease that is meant; 0: whichever it is
  std::string_view owner;
  std::string_view reason;

  /// Nothing: it is none.
  [[nodiscard]] static std::optional<plea> parse(std::string_view);
  /// What a renewal says: `<fence> <reason>`.
  [[nodiscard]] static std::optional<plea> of_renewal(std::string_view owner, std::string_view);
};

/// What a server tells a holder, what you had was taken by force: `!<owner>`.
constexpr char mark_of_the_taken = '!';

/// Where a claim waits for its message. It stands in the inbox before its first poll, and leaves before it dies.
struct addressee {
  struct grant {
    std::uint64_t fence;
    std::int64_t server_time;
  };
  runtime::signal called;
  runtime::guarded<std::optional<grant>> granted;
  std::uint16_t slot = 0;                                      ///< of its lock
  std::atomic<storage::shard> listened_at{storage::no_shard};  ///< when it looked last
};

/// The claims of this client that wait, by their owner ids, which they keep for as long as they stand here.
class inbox {
 public:
  void add(std::string_view owner, addressee&);
  void remove(std::string_view owner) noexcept;
  /// False: nobody of that name waits here.
  [[nodiscard]] bool deliver(const message&);
  /// To look for themselves, those of whom this is so: bool(slot, listened_at).
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
