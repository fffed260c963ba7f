#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directory/database.hpp"
#include "directory/message.hpp"
#include "directory/sessions.hpp"
#include "storage/claim.hpp"

namespace holdfast::directory {

using storage::milliseconds;

/// One party's entry. It remembers its ticket, so that nothing has to be searched.
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
  std::int64_t ticket = 0;  ///< the last that it waited with; 0: none
};

constexpr std::int64_t for_ever = std::int64_t{1} << 62;  ///< what expires then does not
/// It holds what the dead held who had a lock delay, until that is over.
constexpr session_id the_dead = std::int64_t{1} << 62;

/// Who a session is, as far as it told.
struct process {
  session_id session = 0;
  std::int64_t pid = 0;
  std::int64_t pid_namespace = 0;
};

/// The rows of those who hold and wait, as they are: no rule is kept here. Every call finds what it wants by a key, and
/// reads no other rows, however many there are.
class places {
 public:
  explicit places(const database&);

  /// All who hold a name, in a row of its own: so nobody has to add up their parts. A lock that one has for itself, and
  /// that nobody waits for, has no such row: the holder's says it all.
  struct sum {
    std::uint32_t whole = 0;  ///< as those who hold or wait see it
    std::uint64_t used = 0;   ///< the parts of those who hold
    std::uint64_t fence = 0;  ///< of the last who came in: of all, if they are readers
    bool has_row = false;
    bool may_end = false;  ///< there may be fixed leases
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
  /// A fixed lease lasts until then at least; no other has an end.
  void extend(const std::string& name, session_id, const owner_bytes&, std::int64_t expires);
  void downgrade(const std::string& name, session_id, const owner_bytes&, std::uint64_t fence);
  void remove_holder(const std::string& name, session_id, const owner_bytes&);
  /// Those of this session who have a lock delay hold for as long from now, as the dead.
  void close_holders(const std::string& name, session_id, std::int64_t now);
  /// The parts of all that this session holds of the name.
  [[nodiscard]] std::uint64_t remove_holders(const std::string& name, session_id);
  /// The next session above this one that holds some of the name; 0: none.
  [[nodiscard]] session_id next_holder(const std::string& name, session_id after);
  [[nodiscard]] std::string label_of_a_holder(const std::string& name);
  struct end {
    session_id session;
    owner_bytes owner;
    std::uint32_t part;
    std::int64_t expires;
  };
  /// Of the fixed lease that ends first.
  [[nodiscard]] std::optional<end> first_end(const std::string& name);

  struct waiter {
    std::int64_t ticket;
    owner_bytes owner;
    session_id session;
    std::uint32_t part;
    std::int64_t ttl;  ///< of a fixed lease, else 0
  };
  /// The first of those who have this ticket or a later one.
  [[nodiscard]] std::optional<waiter> waits_from(const std::string& name, std::int64_t ticket);
  struct predecessor {
    std::int64_t ticket;
    session_id session;
  };
  [[nodiscard]] std::optional<predecessor> waits_before(const std::string& name, std::int64_t ticket);
  [[nodiscard]] std::int64_t add_waiter(const entry&, session_id);  ///< its ticket
  void remove_waiter(const std::string& name, std::int64_t ticket);
  void remove_waiters(const std::string& name, session_id);
  void let_in(const std::string& name, const waiter&, std::uint64_t fence, std::int64_t expires);

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
  /// All who wait, in order, and all who hold: for those who look, not for those who lock.
  [[nodiscard]] std::vector<row> all_at(const std::string& name);
  /// The first name behind this one, and not before that one, at which anybody is.
  [[nodiscard]] std::optional<std::string> next_name(const std::string& after, const std::string& from);

 private:
  void insert(const entry&, session_id held, session_id by, std::int64_t ticket, std::uint64_t fence,
              std::int64_t expires);
  statement find_sum_, add_sum_, change_sum_, find_holder_, insert_, extend_, downgrade_, remove_, remove_holder_,
      close_holders_, remove_holders_, next_holder_, label_, first_end_, waits_from_, waits_before_, remove_waiters_,
      let_in_, process_, all_at_, next_name_;
};

}  // namespace holdfast::directory
