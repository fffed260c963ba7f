#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "directory/database.hpp"
#include "directory/folder.hpp"
#include "directory/message.hpp"
#include "directory/reserve.hpp"
#include "directory/sessions.hpp"
#include "directory/writers.hpp"
#include "store/claim.hpp"

namespace holdfast::directory {

using seam::milliseconds;

/// Who a session is, as far as it told.
struct process {
  session_id session = 0;
  std::int64_t pid = 0;
  std::int64_t pid_namespace = 0;
};

[[nodiscard]] std::int64_t own_pid_namespace();

/// Somebody who was granted a lock, and must be told; or, without a fence, whose predecessor has left.
struct summons {
  session_id session;
  message text;
};

/// One party's entry. It remembers its ticket, so that nothing has to be searched.
struct entry {
  std::string name;
  owner_bytes owner{};
  milliseconds ttl{};
  bool fixed = false;
  bool queue = true;
  std::string label{};
  std::int64_t ticket = 0;  ///< 0: none, or it holds
};

/// The lock table: rows of SQLite, changed in one short transaction each, by one writer at a time.
/// A row counts as long as its session lives and, if it is fixed, its time has not run out.
class ledger {
 public:
  /// Throws seam::failure. `gone` gets the sessions that ended without a word, for whoever tidies up after them.
  ledger(const folder&, sessions&, std::vector<session_id>& gone);

  struct found {
    bool ours = false;
    std::uint64_t fence = 0;
    std::string holder{};              ///< its label
    instant expires = runtime::never;  ///< of the holder
    process ahead{};                   ///< the one before us: in the queue, or the holder
  };
  /// All take a limit for the writer's turn; they throw seam::failure. `told` gets whoever has to look.
  [[nodiscard]] found acquire(entry&, instant until, std::vector<summons>& told);
  [[nodiscard]] bool renew(const entry&, milliseconds ttl, instant until);
  [[nodiscard]] bool release(entry&, instant until, std::vector<summons>& told);
  /// The head of the queue turned out to be gone: on to the next.
  void serve(const std::string& name, instant until, std::vector<summons>& told);
  /// Throws seam::failure when the files are not those that were opened.
  void check_files() const;
  /// Ends our session in order. Those who get what it may have left behind are told.
  [[nodiscard]] std::vector<summons> leave() noexcept;

  static constexpr std::uint64_t fences_in_a_block = 64;

 private:
  class one_thread;
  class writing;
  struct row {
    std::int64_t ticket;
    owner_bytes owner;
    session_id session;
    std::int64_t expires;
    std::int64_t ttl;
    std::string label;
  };
  void begin_session(std::vector<session_id>& gone);
  [[nodiscard]] std::optional<row> first_of(const std::string& name, std::int64_t from_ticket);
  [[nodiscard]] bool waits(const entry&);
  [[nodiscard]] bool counts(const row&) const;
  void remove(const std::string& name, std::int64_t ticket);
  bool serve_next(const std::string& name, const std::optional<owner_bytes>& except, std::vector<summons>& told);
  void hold(const entry&, bool already);
  [[nodiscard]] std::uint64_t mint();
  [[nodiscard]] process ahead_of(const std::string& name, std::int64_t ticket, const row& holder);

  // One thread at a time on the connection; unlike guarded<>, through I/O, and with a limit. (A std::timed_mutex would
  // do, but g++ 12's thread sanitizer does not see it being locked.)
  std::binary_semaphore turn_{1};
  const folder& folder_;
  sessions& sessions_;
  writers writers_;
  database database_;
  reserve reserve_;
  std::int64_t reserved_to_ = 0;  // by this transaction, or 0: it must be on the disk before they are used
  statement begin_, commit_, roll_back_, first_, before_, remove_, insert_, promote_, last_ticket_, extend_, mint_,
      minted_, process_;
};

}  // namespace holdfast::directory
