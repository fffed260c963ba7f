#include "directory/notes.hpp"

#include <chrono>

namespace holdfast::directory {

namespace {

using std::chrono::system_clock;

constexpr std::chrono::microseconds a_day = std::chrono::hours(24);

std::int64_t microseconds(system_clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}

}  // namespace

void notes::make_table(database& in) {
  in.run(
      "CREATE TABLE IF NOT EXISTS note(name BLOB, kind INTEGER, fence INTEGER NOT NULL, at INTEGER NOT NULL,"
      "  who BLOB NOT NULL, reason BLOB NOT NULL, id BLOB NOT NULL, whom BLOB NOT NULL, PRIMARY KEY(name, kind))"
      "  WITHOUT ROWID;"
      "CREATE INDEX IF NOT EXISTS note_at ON note(at)");
}

bool notes::has_table(const database& in) {
  statement look(in.get(), "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = 'note_at'");
  return look.row<int>().has_value();
}

notes::notes(const database& in)
    : find_(in.get(), "SELECT fence, at, who, reason, id, whom FROM note WHERE name = ? AND kind = ? AND at > ?"),
      put_(in.get(), "INSERT OR REPLACE INTO note VALUES(?, ?, ?, ?, ?, ?, ?, ?)"),
      forget_(in.get(), "DELETE FROM note WHERE (name, kind) IN (SELECT name, kind FROM note WHERE at <= ? LIMIT 8)") {}

std::optional<notes::record> notes::find(const std::string& name, kind which) {
  struct row {
    std::uint64_t fence;
    std::int64_t at;
    std::string who, reason;
    owner_bytes id;
    std::vector<owner_bytes> whom;
  };
  std::optional<row> found = find_.row<row>(name, static_cast<int>(which), microseconds(system_clock::now() - a_day));
  if (!found) return std::nullopt;
  const system_clock::time_point at{std::chrono::microseconds(found->at)};
  return record{{std::move(found->reason), std::move(found->who), found->fence, at}, found->id, std::move(found->whom)};
}

void notes::put(const std::string& name, kind which, const record& made) {
  const std::int64_t at = microseconds(made.is.at.value_or(system_clock::now()));
  put_.run(name, static_cast<int>(which), made.is.fence, at, made.is.by, made.is.reason, made.id, made.whom);
  forget_.run(at - a_day.count());
}

}  // namespace holdfast::directory
