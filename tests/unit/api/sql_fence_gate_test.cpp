#include "holdfast/sql_fence_gate.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <stdexcept>

#include "holdfast/lease.hpp"
#include "holdfast/store.hpp"

namespace holdfast {
namespace {

/// A table of seats in a temporary database.
class sql_gate : public testing::Test {
 protected:
  sql_gate() {
    EXPECT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
    run("CREATE TABLE seats (id TEXT PRIMARY KEY, fence BIGINT NOT NULL DEFAULT 0, owner TEXT)", 0, {});
  }
  ~sql_gate() override { sqlite3_close(db_); }

  /// Returns the number of changed rows. Binds the parameters; :key is always 7A.
  int run(const std::string& sql, std::uint64_t fence, const std::string& owner) {
    sqlite3_stmt* raw = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &raw, nullptr), SQLITE_OK) << sqlite3_errmsg(db_);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    sqlite3_bind_text(raw, sqlite3_bind_parameter_index(raw, ":key"), "7A", -1, SQLITE_STATIC);
    sqlite3_bind_int64(raw, sqlite3_bind_parameter_index(raw, ":fence"), static_cast<sqlite3_int64>(fence));
    sqlite3_bind_text(raw, sqlite3_bind_parameter_index(raw, ":owner"), owner.c_str(), -1, SQLITE_TRANSIENT);
    EXPECT_EQ(sqlite3_step(raw), SQLITE_DONE) << sqlite3_errmsg(db_);
    return sqlite3_changes(db_);
  }
  bool admits(const std::string& sql, std::uint64_t fence, const std::string& owner = {}) {
    return run(sql, fence, owner) == 1;
  }
  [[nodiscard]] std::string owner() const {
    std::string text;
    const auto keep = [](void* to, int, char** values, char**) {
      *static_cast<std::string*>(to) = values[0] == nullptr ? "" : values[0];
      return 0;
    };
    sqlite3_exec(db_, "SELECT owner FROM seats", keep, &text, nullptr);
    return text;
  }

  sqlite3* db_ = nullptr;
  const sql_fence_gate gate_{"seats", "id"};
};

TEST_F(sql_gate, is_plain_text) {
  EXPECT_EQ(gate_.predicate(), "fence <= :fence");
  EXPECT_EQ(gate_.raise(), "UPDATE seats SET fence = :fence WHERE id = :key AND fence <= :fence");
  EXPECT_EQ(sql_fence_gate("t", "k", "f").update({"a", "b"}),
            "UPDATE t SET f = :fence, a = :a, b = :b WHERE k = :key AND f <= :fence");
  EXPECT_EQ(gate_.upsert({"owner"}),
            "INSERT INTO seats (id, fence, owner) VALUES (:key, :fence, :owner) ON CONFLICT (id) DO UPDATE SET "
            "fence = excluded.fence, owner = excluded.owner WHERE seats.fence <= excluded.fence");
}

TEST_F(sql_gate, rejects_the_late_write_of_a_previous_holder) {
  store store = open("memory:");
  lease paused = store.acquire("seat/7A", {.ttl = std::chrono::milliseconds(10), .renew = false});
  EXPECT_TRUE(admits(gate_.upsert({"owner"}), paused.fence(), "Ada"));
  const lease next = store.acquire("seat/7A");  // after the first has expired
  EXPECT_TRUE(admits(gate_.update({"owner"}), next.fence(), "Grace"));
  EXPECT_FALSE(admits(gate_.update({"owner"}), paused.fence(), "Ada"));
  EXPECT_FALSE(admits(gate_.upsert({"owner"}), paused.fence(), "Ada"));
  EXPECT_EQ(owner(), "Grace");
  EXPECT_TRUE(admits(gate_.update({"owner"}), next.fence(), "Grace")) << "the same holder, again";
}

TEST_F(sql_gate, rejects_a_previous_holder_after_the_next_has_read) {
  EXPECT_TRUE(admits(gate_.upsert({"owner"}), 1, "Ada"));
  EXPECT_TRUE(admits(gate_.raise(), 2)) << "a read by the second holder";
  EXPECT_FALSE(admits(gate_.update({"owner"}), 1, "late"));
  EXPECT_FALSE(admits(gate_.raise(), 1)) << "the first holder may not even read any more";
  EXPECT_EQ(owner(), "Ada");
}

TEST_F(sql_gate, remembers_the_fence_of_a_read_without_a_row) {
  EXPECT_FALSE(admits(gate_.raise(), 2)) << "nothing to raise";
  EXPECT_TRUE(admits(gate_.upsert({}), 2));
  EXPECT_FALSE(admits(gate_.upsert({"owner"}), 1, "late"));
  EXPECT_EQ(owner(), "");
}

TEST_F(sql_gate, rejects_names_that_need_quotes) {
  for (const char* name : {"", "a b", "a;b", "a\"", "a'", "a.b", "1a", "a-b", "\xc3\xa4"}) {
    EXPECT_THROW(sql_fence_gate(name, "id"), std::invalid_argument) << name;
    EXPECT_THROW(sql_fence_gate("t", name), std::invalid_argument) << name;
    EXPECT_THROW(sql_fence_gate("t", "id", name), std::invalid_argument) << name;
    EXPECT_THROW((void)gate_.update({name}), std::invalid_argument) << name;
    EXPECT_THROW((void)gate_.upsert({name}), std::invalid_argument) << name;
  }
  EXPECT_THROW(sql_fence_gate(std::string(64, 'a'), "id"), std::invalid_argument);
}

TEST_F(sql_gate, rejects_columns_that_collide_with_its_parameters) {
  const sql_fence_gate other("t", "k", "f");
  for (const char* name : {"k", "f", "key", "fence"}) {
    EXPECT_THROW((void)other.update({name}), std::invalid_argument) << name;
    EXPECT_THROW((void)other.upsert({"owner", name}), std::invalid_argument) << name;
  }
}

}  // namespace
}  // namespace holdfast
