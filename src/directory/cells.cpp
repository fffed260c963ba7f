#include "directory/cells.hpp"

#include <cstring>

namespace holdfast::directory {

namespace {

std::string bytes_of(const std::vector<storage::owner_id>& ids) {
  std::string bytes(ids.size() * sizeof(storage::owner_id), '\0');
  std::memcpy(bytes.data(), ids.data(), bytes.size());
  return bytes;
}

/// Whatever somebody wrote into the file.
std::vector<storage::owner_id> ids_in(std::string_view bytes) {
  std::vector<storage::owner_id> ids(
      std::min(bytes.size() / sizeof(storage::owner_id), storage::cell_record::most_ids));
  std::memcpy(ids.data(), bytes.data(), ids.size() * sizeof(storage::owner_id));
  return ids;
}

}  // namespace

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
      take_watchers_(in.get(), "DELETE FROM watcher WHERE name = ? RETURNING owner, session") {}

std::optional<storage::cell_record> cells::find(const std::string& name) {
  std::optional<storage::cell_record> is;
  find_.bind(1, name);
  if (find_.step()) {
    is = storage::cell_record{.version = static_cast<std::uint64_t>(find_.number(0)),
                              .ends = find_.number(1),
                              .number = static_cast<std::uint64_t>(find_.number(2)),
                              .note = std::string(find_.bytes(3)),
                              .ids = ids_in(find_.bytes(4))};
  }
  find_.reset();
  return is;
}

void cells::save(const std::string& name, const storage::cell_record& is, std::int64_t now) {
  const std::string ids = bytes_of(is.ids);
  save_.bind(1, name).bind(2, static_cast<std::int64_t>(is.version)).bind(3, is.ends);
  save_.bind(4, static_cast<std::int64_t>(is.number)).bind(5, is.note).bind(6, ids).run();
  forget_.bind(1, now - storage::cell_record::remembered_for).run();
}

void cells::watch(const std::string& name, const owner_bytes& owner, session_id by, std::int64_t until,
                  std::int64_t now) {
  watch_.bind(1, name).bind(2, std::string_view(owner.data(), owner.size())).bind(3, by).bind(4, until).run();
  forget_watchers_.bind(1, now).run();
}

std::vector<summons> cells::take_watchers(const std::string& name) {
  std::vector<summons> all;
  take_watchers_.bind(1, name);
  while (take_watchers_.step()) {
    summons one{.session = take_watchers_.number(1), .text = {}};
    take_watchers_.bytes(0).copy(one.text.owner.data(), one.text.owner.size());
    all.push_back(one);
  }
  take_watchers_.reset();
  return all;
}

}  // namespace holdfast::directory
