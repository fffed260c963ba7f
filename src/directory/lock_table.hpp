#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "directory/admin.hpp"
#include "directory/cells.hpp"
#include "directory/claim_rows.hpp"
#include "directory/database.hpp"
#include "directory/fences.hpp"
#include "directory/folder.hpp"
#include "directory/sessions.hpp"
#include "directory/stored_queue.hpp"
#include "directory/writer_lock.hpp"
#include "storage/break_request.hpp"

namespace holdfast::directory {

/// The lock table: rows of SQLite. Each call is one short transaction, and processes write one at a time. All take a
/// limit for the wait until it is their turn, and throw storage::failure. `notifications` receives the messages that
/// the caller sends afterwards.
class lock_table {
 public:
  /// Begins a session. `ended` receives the sessions that ended without leave(), so that the caller can clean up.
  lock_table(const folder&, sessions&, std::vector<session_id>& ended);

  struct poll_result {
    bool ours = false;
    std::uint64_t fence = 0;
    std::string holder{};              ///< its label
    instant expires = runtime::never;  ///< when the first fixed lease of a holder expires
    /// The processes whose end the waiter has to notice: the one before it in the queue, or all holders. Those beyond
    /// most_watched have a session only; they are too many for pidfds.
    std::vector<process> ahead{};
  };
  static constexpr std::size_t most_watched = 64;

  [[nodiscard]] poll_result poll(entry&, instant until, std::vector<notification>& notifications);
  [[nodiscard]] bool renew(const entry&, milliseconds ttl, instant until);
  [[nodiscard]] bool downgrade(const entry&, std::uint64_t fence, milliseconds ttl, instant until,
                               std::vector<notification>& notifications);
  [[nodiscard]] bool release(const entry&, instant until, std::vector<notification>& notifications);
  void resize(const std::string& name, std::uint32_t whole, instant until, std::vector<notification>& notifications);
  /// Admits the next waiters in place of a session that was admitted and turned out to have ended.
  void pass_over(session_id ended, const std::string& name, instant until, std::vector<notification>& notifications);

  [[nodiscard]] storage::reading get_cell(const std::string& name, instant until);
  [[nodiscard]] storage::answer<std::uint64_t> put_cell(const std::string& name, std::uint64_t seen,
                                                        const storage::change&, instant until,
                                                        std::vector<notification>& notifications);
  /// Returns false if the cell has changed since it was seen. Otherwise the claim gets one message if the cell changes
  /// within `watched_for`.
  [[nodiscard]] bool watch_cell(const std::string& name, const storage::reading& seen, const owner_bytes& who,
                                milliseconds watched_for, instant until);

  /// Writes a note of the request, and returns the holders to send it to.
  [[nodiscard]] claims_by_session revoke(const std::string& name, const std::string& reason, std::uint64_t fence,
                                         instant until);
  /// Returns false if no holder is meant. `losers` receives the claims that lost the lock.
  [[nodiscard]] bool break_lock(const storage::break_request&, instant until, std::vector<notification>& notifications,
                                claims_by_session& losers);
  /// Reads without waiting for a writer.
  [[nodiscard]] state inspect(const std::string& name, instant until);
  /// Reads a page of at most `most` names in order, at one moment. Some may belong to dead processes and are left out.
  [[nodiscard]] listing list(const std::string& prefix, const std::string& after, std::size_t most, instant until);

  /// Throws storage::failure(foreign) if the files are not those that were opened.
  void check_files() { database_.files().check(); }
  /// Ends the session. Returns the messages to the claims that get what it still held.
  [[nodiscard]] std::vector<notification> leave() noexcept;

 private:
  class thread_turn;
  class writing;
  class reading;
  class read_transaction;
  void begin_session(std::vector<session_id>& ended);
  void remove_claims_without_session();
  void make_cells(instant until);
  void make_notes(instant until);
  [[nodiscard]] state state_of(const std::string& name, std::int64_t pid_namespace, const snapshot::bounds&);
  [[nodiscard]] stored_queue queue_of(const std::string& name, std::vector<notification>& notifications);
  struct position;
  [[nodiscard]] position find_position(stored_queue&, entry&);
  [[nodiscard]] std::vector<process> processes_ahead(const position&);

  // One thread at a time uses the connection. Unlike guarded<>, it is held during I/O and has a timeout. (g++ 12's
  // thread sanitizer does not see a std::timed_mutex being locked.)
  std::binary_semaphore turn_{1};
  sessions& sessions_;
  writer_lock writers_;
  database database_;
  fence_allocator fences_;
  claim_rows rows_;
  std::optional<cells> cells_;
  std::atomic<bool> has_cells_{false};
  std::optional<notes> notes_;  // empty until the table exists
  statement begin_, begin_reading_, commit_, roll_back_;
};

/// The turn among the threads of this client.
class lock_table::thread_turn {
 public:
  thread_turn(lock_table&, instant until);
  thread_turn(const thread_turn&) = delete;
  thread_turn& operator=(const thread_turn&) = delete;
  ~thread_turn() { turn_.release(); }

 private:
  std::binary_semaphore& turn_;
};

/// A transaction. It has the turn among threads, then the writer lock among processes, then SQLite's own lock. It is
/// rolled back unless it is committed.
class lock_table::writing {
 public:
  writing(lock_table&, instant until);
  writing(const writing&) = delete;
  writing& operator=(const writing&) = delete;
  ~writing();
  void commit();

 private:
  lock_table& table_;
  const thread_turn among_threads_;
  const writer_lock::turn among_processes_;
};

}  // namespace holdfast::directory
