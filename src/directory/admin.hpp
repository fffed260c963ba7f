#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "directory/claim_rows.hpp"
#include "directory/database.hpp"
#include "directory/inbox.hpp"
#include "directory/sessions.hpp"
#include "holdfast/state.hpp"

/// What the calls of operators read and write besides the lock table itself.
namespace holdfast::directory {

using claims_by_session = std::map<session_id, std::vector<owner_bytes>>;

/// Splits a message into parts that each fit into one datagram.
[[nodiscard]] std::vector<std::pair<session_id, revoke_message>> messages_to(const claims_by_session&,
                                                                             const revoke_message&);

/// The live holders and waiters of a name. Reads only, so the rows of dead processes remain.
class snapshot {
 public:
  /// Throws storage::failure.
  snapshot(claim_rows&, const sessions&, const std::string& name);

  struct bounds {  ///< how many are listed
    std::size_t holders, waiters;
  };
  [[nodiscard]] state as_state(std::int64_t pid_namespace, const bounds&) const;
  [[nodiscard]] const std::vector<claim_rows::row>& holders() const noexcept { return holders_; }
  /// Returns the claims that hold the name, by session. With a fence, only those that have it.
  [[nodiscard]] claims_by_session holders_with(std::uint64_t fence) const;

 private:
  claim_rows& rows_;
  std::vector<claim_rows::row> holders_, waiters_;
  std::int64_t now_;
};

/// The rows that say who asked the holders of a name to release it, and who broke it: the latest of each kind, for a
/// day.
class notes {
 public:
  /// Called before the first note is written. Needs a transaction of its own.
  static void make_table(database&);
  [[nodiscard]] static bool has_table(const database&);
  explicit notes(const database&);

  enum class kind { revoked = 1, broken = 2 };
  struct record {
    state::note is;                     ///< with its time
    owner_bytes id{};                   ///< of the call
    std::vector<owner_bytes> owners{};  ///< the claims that were asked
  };
  [[nodiscard]] std::optional<record> find(const std::string& name, kind);
  /// Also removes some notes that are too old.
  void put(const std::string& name, kind, const record&);

 private:
  statement find_, put_, forget_;
};

}  // namespace holdfast::directory
