#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directory/claim_rows.hpp"
#include "directory/fences.hpp"
#include "directory/inbox.hpp"
#include "directory/sessions.hpp"

namespace holdfast::directory {

constexpr std::uint64_t fences_in_a_block = 64;
/// The number of fences in a grant. An exclusive holder gets a block, so that it can hand the lock on in its process.
[[nodiscard]] constexpr std::uint64_t fences_of(const storage::share& s) noexcept {
  return s.exclusive() ? fences_in_a_block : 1;
}

/// Admits the claims of one name during a transaction, by the same rule as storage::lock_queue. Its lists are rows of
/// the database, and a call reads only those that it needs. A claim counts while its session lives; with a fixed lease,
/// only until that expires.
class stored_queue {
 public:
  /// Removes expired leases. `notifications` receives the messages to send after the transaction.
  stored_queue(claim_rows&, fence_allocator&, const sessions&, const std::string& name,
               std::vector<notification>& notifications);

  [[nodiscard]] std::uint32_t whole() const noexcept { return all_.whole; }
  [[nodiscard]] bool idle() { return all_.used == 0 && !has_waiters(); }
  [[nodiscard]] bool has_waiters() { return first_waiter().has_value(); }
  [[nodiscard]] bool holds(const entry&);
  [[nodiscard]] bool knows(const entry& who) { return holds(who) || waits(who); }

  /// Admits waiters in order of arrival while there is room for the first.
  void admit_waiters();
  /// Returns the live sessions that hold the name, and passes on what dead ones held. `one`: stops at the first.
  [[nodiscard]] std::vector<session_id> living_holders(bool one);
  /// Returns the fence if the claim holds the lock. A new claim is admitted if there is room and no claim waits.
  [[nodiscard]] std::optional<std::uint64_t> admit(const entry&, bool known);
  /// Admits a claim if there is room, although others wait.
  [[nodiscard]] std::optional<std::uint64_t> barge(const entry&);
  void wait(entry&);
  /// Returns the session of the last live waiter before this one.
  [[nodiscard]] std::optional<session_id> predecessor(const entry&);

  [[nodiscard]] bool downgrade(const entry&, std::uint64_t fence, milliseconds ttl);
  void resize(std::uint32_t whole);
  [[nodiscard]] bool release(const entry&);
  void break_holder(const claim_rows::row&);
  /// Removes the claims of a session, except locks with a lock delay.
  void remove(session_id);
  void remove_holders(session_id);

  /// Writes the sum of the holders. Called before the commit.
  void save();

 private:
  [[nodiscard]] bool has_room_for(std::uint32_t part) const noexcept { return all_.used + part <= all_.whole; }
  [[nodiscard]] bool waits(const entry&);
  [[nodiscard]] std::uint64_t enter(const entry&);
  [[nodiscard]] std::optional<claim_rows::waiter> first_waiter();
  [[nodiscard]] std::uint64_t add_part(std::uint32_t part);
  void subtract(std::uint64_t parts) noexcept { all_.used -= std::min(all_.used, parts); }
  void admit(const claim_rows::waiter&);
  void ask_to_poll(const claim_rows::waiter& who) { notifications_.push_back({who.session, {.owner = who.owner}}); }

  claim_rows& rows_;
  fence_allocator& fences_;
  const sessions& sessions_;
  const std::string& name_;
  std::vector<notification>& notifications_;
  const claim_rows::sum before_;
  claim_rows::sum all_;
  bool no_waiters_;  // false: not known
};

}  // namespace holdfast::directory
