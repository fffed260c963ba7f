#include "directory/cells.hpp"

namespace holdfast::directory {

void cells::make_tables(database& in) {
  in.run(
      "CREATE TABLE IF NOT EXISTS cell(name BLOB PRIMARY KEY, version INTEGER NOT NULL, ends INTEGER NOT NULL,"
      "  number INTEGER NOT NULL, note BLOB NOT NULL, ids BLOB NOT NULL) WITHOUT ROWID;"
      "CREATE INDEX IF NOT EXISTS cell_ends ON cell(ends);"
      "CREATE TABLE IF NOT EXISTS watcher(name BLOB, owner BLOB, session INTEGER NOT NULL, until INTEGER NOT NULL,"
      "  PRIMARY KEY(name, owner)) WITHOUT ROWID;"
      "CREATE INDEX IF NOT EXISTS watcher_until ON watcher(until)");
}

cells::cells(const database& in)
    : find_(in.get(), "SELECT version, ends, number, note, ids FROM cell WHERE name = ?"),
      save_(in.get(), "INSERT OR REPLACE INTO cell VALUES(?, ?, ?, ?, ?, ?)"),
      forget_(in.get(), "DELETE FROM cell WHERE name IN (SELECT name FROM cell WHERE ends <= ? LIMIT 8)"),
      watch_(in.get(), "INSERT OR REPLACE INTO watcher VALUES(?, ?, ?, ?)"),
      forget_watchers_(in.get(),
                       "DELETE FROM watcher WHERE (name, owner) IN "
                       "(SELECT name, owner FROM watcher WHERE until <= ? LIMIT 8)"),
      take_watchers_(in.get(), "DELETE FROM watcher WHERE name = ? RETURNING session, owner") {}

std::optional<storage::cell_record> cells::find(const std::string& name) {
  std::optional<storage::cell_record> is = find_.row<storage::cell_record>(name);
  if (is && is->ids.size() > storage::cell_record::most_ids) is->ids.resize(storage::cell_record::most_ids);
  return is;
}

void cells::save(const std::string& name, const storage::cell_record& is, std::int64_t now) {
  save_.run(name, is.version, is.ends, is.number, is.note, is.ids);
  forget_.run(now - storage::cell_record::remembered_for);
}

void cells::watch(const std::string& name, const owner_bytes& owner, session_id by, std::int64_t until,
                  std::int64_t now) {
  watch_.run(name, owner, by, until);
  forget_watchers_.run(now);
}

std::vector<notification> cells::take_watchers(const std::string& name) {
  struct watcher {
    session_id session;
    owner_bytes owner;
  };
  std::vector<notification> all;
  for (const watcher& each : take_watchers_.rows<watcher>(name)) all.push_back({each.session, {.owner = each.owner}});
  return all;
}

}  // namespace holdfast::directory
