#include "directory/health_check.hpp"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "directory/database.hpp"
#include "directory/file_checks.hpp"
#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;
using runtime::instant;

/// A second, read-only connection to the database, which makes no client wait.
class read_only_database {
 public:
  explicit read_only_database(const folder& in) {
    sqlite3* opened = nullptr;
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code = sqlite3_open_v2(in.file("locks.db").c_str(), &opened, flags, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) throw storage::failure(errc::not_ready, in.file("locks.db") + ": " + sqlite3_errmsg(opened));
    sqlite3_busy_timeout(opened, 1'000);
  }
  [[nodiscard]] sqlite3* get() const noexcept { return database_.get(); }
  [[nodiscard]] std::string text(const char* sql) const {
    return statement(get(), sql).row<std::string>().value_or("");
  }

 private:
  struct closing {
    void operator()(sqlite3* opened) const noexcept { sqlite3_close_v2(opened); }
  };
  const fork_guard guard_;
  std::unique_ptr<sqlite3, closing> database_;
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::optional<folder_above> owner_of(const std::string& path) {
  struct stat is{};
  if (::stat(path.c_str(), &is) != 0) return std::nullopt;
  return folder_above{path, is.st_uid, is.st_mode};
}

std::vector<folder_above> all_above(const std::string& path) {
  std::vector<folder_above> all;
  for (std::string at = path; !at.empty() && at != "/";) {
    at = parent_of(at);
    if (std::optional<folder_above> one = owner_of(at)) all.push_back(std::move(*one));
  }
  return all;
}

room_left room_at(const std::string& path) {
  struct statvfs is{};
  if (::statvfs(path.c_str(), &is) != 0) {
    throw storage::failure(errc::not_ready, "cannot examine " + path + ": " + std::generic_category().message(errno));
  }
  room_left room;
  room.bytes = static_cast<std::uint64_t>(is.f_bavail) * is.f_frsize;
  if (is.f_files != 0) room.files = is.f_favail;  // some file systems do not count files
  return room;
}

long file_system_of(const std::string& path) {
  struct statfs is{};
  return ::statfs(path.c_str(), &is) == 0 ? is.f_type : 0;
}

/// Counts the sessions and sockets whose processes have ended.
remains remains_of_dead(const folder& in, const sessions& alive, const read_only_database& database) {
  remains left;
  statement all(database.get(), "SELECT id, (SELECT count(*) FROM place WHERE session = s.id) FROM session AS s");
  struct session {
    session_id id;
    std::size_t places;
  };
  for (const auto& [id, places] : all.rows<session>()) {
    ++left.sessions;
    if (alive.alive(id)) continue;
    ++left.dead;
    left.places += places;
  }
  const std::string at = in.file("inboxes");
  const std::unique_ptr<DIR, int (*)(DIR*)> inboxes(::opendir(at.c_str()), ::closedir);
  if (!inboxes) return left;
  while (const dirent* const one = ::readdir(inboxes.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const std::string name = one->d_name;
    const bool number = !name.empty() && name.size() < 19 && name.find_first_not_of("0123456789") == std::string::npos;
    if (number && !alive.alive(std::stoll(name))) ++left.sockets;
  }
  return left;
}

int has_passed(void* until) noexcept { return boot_clock::now() >= *static_cast<const instant*>(until) ? 1 : 0; }

/// Returns "ok", or what SQLite finds wrong with its file, or nothing if the check was interrupted.
std::string check(const read_only_database& database, instant until) {
  sqlite3_progress_handler(database.get(), 10'000, has_passed, &until);
  try {
    return database.text("PRAGMA quick_check(1)");
  } catch (const storage::failure& why) {
    const bool no_time = (sqlite3_errcode(database.get()) & 0xff) == SQLITE_INTERRUPT;
    return no_time ? "" : why.text;
  }
}

}  // namespace

std::vector<finding> check_health(const folder& in, const sessions& alive, instant until) {
  storage::findings found;
  if (const std::optional<folder_above> itself = owner_of(in.path())) judge_folder(*itself, ::geteuid(), found);
  std::vector<folder_above> above = all_above(in.path());
  std::error_code no_link;
  const std::filesystem::path real =
      std::filesystem::canonical(in.path(), no_link);  // links may lead through other folders
  for (folder_above& each : all_above(real.string())) above.push_back(std::move(each));
  judge_above(above, ::geteuid(), found);
  judge_file_system(file_system_of(in.path()), found);
  judge_room(room_at(in.path()), found);
  const read_only_database database(in);
  judge_version(database.text("PRAGMA user_version"), found);
  judge_journal(database.text("PRAGMA journal_mode"), found);
  judge_remains(remains_of_dead(in, alive, database), found);
  judge_integrity(check(database, std::min(until, boot_clock::now() + 1s)), in.file("locks.db"), found);
  return found.take();
}

}  // namespace holdfast::directory
