#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "directory/cells.hpp"
#include "directory/database.hpp"
#include "directory/folder.hpp"
#include "directory/gathering.hpp"
#include "directory/mint.hpp"
#include "directory/notes.hpp"
#include "directory/places.hpp"
#include "directory/sessions.hpp"
#include "directory/survey.hpp"
#include "directory/writers.hpp"

namespace holdfast::directory {

[[nodiscard]] std::int64_t own_pid_namespace();

/// The lock table: rows of SQLite, changed in one short transaction each, by one writer at a time.
class ledger {
 public:
  /// Throws storage::failure. `gone` gets the sessions that ended without a word, for whoever tidies up after them.
  ledger(const folder&, sessions&, std::vector<session_id>& gone);

  struct found {
    bool ours = false;
    std::uint64_t fence = 0;
    std::string holder{};              ///< its label
    instant expires = runtime::never;  ///< when a holder's time is over, the first of them
    /// Whose death we have to notice: of the one before us in the queue, or of all who hold. Of some we know only their
    /// sessions: there are too many to watch.
    std::vector<process> ahead{};
  };
  static constexpr std::size_t most_watched = 64;

  /// All take a limit for the writer's turn; they throw storage::failure. `told` gets whoever has to look.
  [[nodiscard]] found acquire(entry&, instant until, std::vector<summons>& told);
  [[nodiscard]] bool renew(const entry&, milliseconds ttl, instant until);
  [[nodiscard]] bool downgrade(const entry&, std::uint64_t fence, milliseconds ttl, instant until,
                               std::vector<summons>& told);
  [[nodiscard]] bool release(const entry&, instant until, std::vector<summons>& told);
  void resize(const std::string& name, std::uint32_t whole, instant until, std::vector<summons>& told);
  /// Somebody who was let in turned out to be gone: on to the next.
  void pass_over(session_id gone, const std::string& name, instant until, std::vector<summons>& told);
  [[nodiscard]] storage::reading get_cell(const std::string& name, instant until);
  [[nodiscard]] storage::answer<std::uint64_t> put_cell(const std::string& name, std::uint64_t seen,
                                                        const storage::change&, instant until,
                                                        std::vector<summons>& told);
  /// False: it is not as seen any more. Else it will be told, once, if it changes before `for_long` is over.
  [[nodiscard]] bool watch_cell(const std::string& name, const storage::reading& seen, const owner_bytes& who,
                                milliseconds for_long, instant until);
  /// Who holds it, and has to be told; that they are asked is written down.
  [[nodiscard]] claims_by_session ask_holders(const std::string& name, const std::string& reason, std::uint64_t fence,
                                              instant until);
  /// False: nobody holds it who is meant. `losers` gets those who have to be told that they lost it.
  [[nodiscard]] bool break_lock(const storage::break_request&, instant until, std::vector<summons>& told,
                                claims_by_session& losers);
  /// These look, and change nothing: no writer's turn is needed.
  [[nodiscard]] state inspect(const std::string& name, instant until);
  /// In the order of their names, in one moment; `most` names are looked at, some of which the dead may have left.
  [[nodiscard]] listing list(const std::string& prefix, const std::string& after, std::size_t most, instant until);
  /// Throws storage::failure when the files are not those that were opened.
  void check_files() { database_.files().check(); }
  /// Ends our session in order. Those who get what it may have left behind are told.
  [[nodiscard]] std::vector<summons> leave() noexcept;

 private:
  class one_thread;
  class writing;
  class reading;
  class snapshot;
  void begin_session(std::vector<session_id>& gone);
  void forget_those_without_session();
  void make_cells(instant until);
  void make_notes(instant until);
  [[nodiscard]] state look(const std::string& name, std::int64_t pid_namespace, const survey::bounds&);
  [[nodiscard]] gathering all_at(const std::string& name, std::vector<summons>& told);
  struct line;
  [[nodiscard]] line find_place(gathering&, entry&);
  [[nodiscard]] std::vector<process> processes_of(const line&);

  // One thread at a time on the connection; unlike guarded<>, through I/O, and with a limit. (A std::timed_mutex would
  // do, but g++ 12's thread sanitizer does not see it being locked.)
  std::binary_semaphore turn_{1};
  sessions& sessions_;
  writers writers_;
  database database_;
  mint mint_;
  places places_;
  std::optional<cells> cells_;
  std::atomic<bool> has_cells_{false};
  std::optional<notes> notes_;  // once somebody has written one
  statement begin_, begin_to_look_, commit_, roll_back_;
};

}  // namespace holdfast::directory
