#include "directory/notes.hpp"

#include <chrono>
#include <cstring>

namespace holdfast::directory {

namespace {

using std::chrono::system_clock;

constexpr std::chrono::microseconds a_day = std::chrono::hours(24);

std::int64_t microseconds(system_clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}

std::string bytes_of(const std::vector<owner_bytes>& those) {
  std::string bytes;
  for (const owner_bytes& each : those) bytes.append(each.data(), each.size());
  return bytes;
}

/// Whatever somebody wrote into the file.
std::vector<owner_bytes> owners_in(std::string_view bytes) {
  std::vector<owner_bytes> those(bytes.size() / sizeof(owner_bytes));
  if (!those.empty()) std::memcpy(those.data(), bytes.data(), those.size() * sizeof(owner_bytes));
  return those;
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
  return look.step();
}

notes::notes(const database& in)
    : find_(in.get(), "SELECT fence, at, who, reason, id, whom FROM note WHERE name = ? AND kind = ? AND at > ?"),
      put_(in.get(), "INSERT OR REPLACE INTO note VALUES(?, ?, ?, ?, ?, ?, ?, ?)"),
      forget_(in.get(), "DELETE FROM note WHERE (name, kind) IN (SELECT name, kind FROM note WHERE at <= ? LIMIT 8)") {}

std::optional<notes::record> notes::find(const std::string& name, kind which) {
  std::optional<record> found;
  find_.bind(1, name).bind(2, static_cast<std::int64_t>(which)).bind(3, microseconds(system_clock::now() - a_day));
  if (find_.step()) {
    found.emplace();
    found->is.fence = static_cast<std::uint64_t>(find_.number(0));
    found->is.at = system_clock::time_point(std::chrono::microseconds(find_.number(1)));
    found->is.by = find_.bytes(2);
    found->is.reason = find_.bytes(3);
    find_.bytes(4).copy(found->id.data(), found->id.size());
    found->whom = owners_in(find_.bytes(5));
  }
  find_.reset();
  return found;
}

void notes::put(const std::string& name, kind which, const record& made) {
  const std::string whom = bytes_of(made.whom);
  const std::int64_t at = microseconds(made.is.at.value_or(system_clock::now()));
  put_.bind(1, name).bind(2, static_cast<std::int64_t>(which));
  put_.bind(3, static_cast<std::int64_t>(made.is.fence)).bind(4, at).bind(5, made.is.by).bind(6, made.is.reason);
  put_.bind(7, std::string_view(made.id.data(), made.id.size())).bind(8, whom).run();
  forget_.bind(1, at - a_day.count()).run();
}

}  // namespace holdfast::directory
