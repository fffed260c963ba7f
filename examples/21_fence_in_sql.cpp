// A row rejects a holder that was overtaken: the fence is a column and a condition of every statement.
#include <sqlite3.h>
#include <holdfast/holdfast.hpp>

#include <memory>

using namespace std::chrono_literals;

int main() {
  sqlite3* db = nullptr;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> closed_in_the_end{db, sqlite3_close};
  const auto rows = [&](const std::string& sql, std::uint64_t fence, const char* owner) {
    sqlite3_stmt* s = nullptr;
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &s, nullptr) != SQLITE_OK) return -1;
    sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, ":key"), "7A", -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, ":fence"), static_cast<sqlite3_int64>(fence));
    sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, ":owner"), owner, -1, SQLITE_STATIC);
    const int end = sqlite3_step(s);
    sqlite3_finalize(s);
    return end == SQLITE_DONE ? sqlite3_changes(db) : -1;
  };
  rows("CREATE TABLE seats (id TEXT PRIMARY KEY, fence BIGINT NOT NULL DEFAULT 0, owner TEXT)", 0, "");
  rows("INSERT INTO seats (id) VALUES ('7A')", 0, "");

  holdfast::store store = holdfast::open("memory:");
  holdfast::lease slow = store.acquire("seat/7A", {.ttl = 20ms, .renew = false});  // sleeps too long
  holdfast::lease next = store.acquire("seat/7A");
  // [gate]
  const holdfast::sql_fence_gate gate{"seats", "id"};
  const std::string sell = gate.update({"owner"});
  // UPDATE seats SET fence = :fence, owner = :owner WHERE id = :key AND fence <= :fence
  bool right = rows(gate.raise(), next.fence(), "") == 1;   // before the SELECT, in its transaction
  right = right && rows(sell, slow.fence(), "Ada") == 0;    // rejected: a newer holder has read the row
  right = right && rows(sell, next.fence(), "Grace") == 1;  // one row: admitted
  // [/gate]
  return right ? 0 : 1;
}
