#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directory/database.hpp"
#include "directory/inbox.hpp"
#include "directory/sessions.hpp"
#include "storage/claim.hpp"

namespace holdfast::directory {

using storage::milliseconds;

/// What a claim asks for. It keeps its ticket, so that its row is found by a key.
struct entry {
  std::string name;
  owner_bytes owner{};
  storage::share wants{};
  milliseconds ttl{};
  bool fixed = false;
  bool queue = true;
  bool barges = false;
  milliseconds delay{};
  std::string label{};
  std::int64_t ticket = 0;  ///< the last with which it waited; 0: none
};

constexpr std::int64_t no_expiry = std::int64_t{1} << 62;
/// This session holds the locks of dead clients until their lock delay has passed.
constexpr session_id delayed_session = std::int64_t{1} << 62;

/// The rows of the claims that hold and wait, in the table "place". Knows no rule of admission. Every call finds its
/// rows by a key and reads no others, however many there are.
class claim_rows {
 public:
  explicit claim_rows(const database&);

  /// A row of its own for all holders of a name, so that their parts need not be added up. A lock with one exclusive
  /// holder and no waiters has no such row; the row of the holder is enough.
  struct sum {
    std::uint32_t whole = 0;  ///< as the holders and waiters see it
    std::uint64_t used = 0;   ///< the parts of the holders
    std::uint64_t fence = 0;  ///< of the latest holder; readers share it
    bool has_row = false;
    bool may_expire = false;  ///< there may be fixed leases
    friend bool operator==(const sum&, const sum&) = default;
  };
  [[nodiscard]] sum find_sum(const std::string& name);
  void add_sum(const std::string& name, const sum&);
  void change_sum(const std::string& name, const sum&);
  void remove_sum(const std::string& name);

  struct holder {
    std::uint32_t part;
    std::uint64_t fence;
    std::int64_t expires;
  };
  [[nodiscard]] std::optional<holder> find_holder(const std::string& name, session_id, const owner_bytes&);
  void add_holder(const entry&, session_id, std::uint64_t fence, std::int64_t expires);
  /// Extends a fixed lease, never shortens it. Other leases do not expire.
  void extend(const std::string& name, session_id, const owner_bytes&, std::int64_t expires);
  void downgrade(const std::string& name, session_id, const owner_bytes&, std::uint64_t fence);
  void remove_holder(const std::string& name, session_id, const owner_bytes&);
  /// Moves the holders of a session that have a lock delay to delayed_session, where they expire after it.
  void delay_holders(const std::string& name, session_id, std::int64_t now);
  /// Removes all holders of a session. Returns the sum of their parts.
  [[nodiscard]] std::uint64_t remove_holders(const std::string& name, session_id);
  /// Returns the next higher session that holds the name; 0: no other session holds it.
  [[nodiscard]] session_id next_holder(const std::string& name, session_id after);
  [[nodiscard]] std::string label_of_a_holder(const std::string& name);
  struct expiry {
    session_id session;
    owner_bytes owner;
    std::uint32_t part;
    std::int64_t expires;
  };
  /// Returns the fixed lease that expires first.
  [[nodiscard]] std::optional<expiry> first_expiry(const std::string& name);

  struct waiter {
    std::int64_t ticket;
    owner_bytes owner;
    session_id session;
    std::uint32_t part;
    std::int64_t ttl;  ///< of a fixed lease, else 0
  };
  /// Returns the first waiter with this ticket or a later one.
  [[nodiscard]] std::optional<waiter> first_waiter(const std::string& name, std::int64_t from_ticket = 1);
  struct predecessor {
    std::int64_t ticket;
    session_id session;
  };
  /// Returns the last waiter with a lower ticket.
  [[nodiscard]] std::optional<predecessor> last_waiter(const std::string& name, std::int64_t before_ticket);
  [[nodiscard]] std::int64_t add_waiter(const entry&, session_id);  ///< returns the ticket
  void remove_waiter(const std::string& name, std::int64_t ticket);
  void remove_waiters(const std::string& name, session_id);
  /// Makes a waiter a holder.
  void admit(const std::string& name, const waiter&, std::uint64_t fence, std::int64_t expires);

  [[nodiscard]] process process_of(session_id);

  struct row {
    session_id held;  ///< 0: it waits
    owner_bytes owner;
    session_id session;
    std::uint32_t part;
    std::uint32_t whole;
    std::uint64_t fence;
    std::int64_t expires;
    std::string label;
    std::int64_t ticket;
  };
  /// Returns all waiters in order, and all holders. For operators' calls: it reads as many rows as there are.
  [[nodiscard]] std::vector<row> all(const std::string& name);
  /// Returns the first name in use that is greater than `after` and not less than `from`.
  [[nodiscard]] std::optional<std::string> next_name(const std::string& after, const std::string& from);

 private:
  void insert(const entry&, session_id held, session_id by, std::int64_t ticket, std::uint64_t fence,
              std::int64_t expires);
  statement find_sum_, add_sum_, change_sum_, find_holder_, insert_, extend_, downgrade_, remove_waiter_,
      remove_holder_, delay_holders_, remove_holders_, next_holder_, label_, first_expiry_, first_waiter_, last_waiter_,
      remove_waiters_, admit_, process_, all_, next_name_;
};

}  // namespace holdfast::directory
