#include "directory/file_checks.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

#include "support/found.hpp"

namespace holdfast::directory {
namespace {

using severity = finding::severity;

/// The level of the only finding.
template <class Judge>
severity level(Judge judge) {
  storage::findings found;
  judge(found);
  EXPECT_EQ(found.all().size(), 1u);
  EXPECT_TRUE(test::are_whole(found.all()));
  return found.all().front().level;
}

severity of_folder(uid_t owner, mode_t mode) {
  return level([&](auto& found) { judge_folder({"/a", owner, mode}, 1000, found); });
}

severity above(uid_t owner, mode_t mode) {
  return level([&](auto& found) { judge_above({{"/a/b", 1000, 040755}, {"/a", owner, mode}}, 1000, found); });
}

severity room(std::uint64_t bytes, std::optional<std::uint64_t> files) {
  return level([&](auto& found) { judge_room({bytes, files}, found); });
}

TEST(file_checks, report_danger_when_others_can_write_to_the_folder) {
  EXPECT_EQ(of_folder(1000, 040700), severity::fine);
  EXPECT_EQ(of_folder(0, 040755), severity::fine);
  EXPECT_EQ(of_folder(1000, 040720), severity::danger);
  EXPECT_EQ(of_folder(1000, 040702), severity::danger);
  EXPECT_EQ(of_folder(1001, 040700), severity::danger);
}

TEST(file_checks, warn_when_others_can_move_the_folder_away) {
  EXPECT_EQ(above(0, 041777), severity::fine);  // as /tmp
  EXPECT_EQ(above(1000, 040700), severity::fine);
  EXPECT_EQ(above(0, 040777), severity::warning);
  EXPECT_EQ(above(1000, 040775), severity::warning);
  EXPECT_EQ(above(1001, 040755), severity::warning);
}

TEST(file_checks, note_a_file_system_in_memory_or_of_a_container) {
  const auto on = [](long type) { return level([&](auto& found) { judge_file_system(type, found); }); };
  EXPECT_EQ(on(EXT4_SUPER_MAGIC), severity::fine);
  EXPECT_EQ(on(TMPFS_MAGIC), severity::note);
  EXPECT_EQ(on(OVERLAYFS_SUPER_MAGIC), severity::note);
}

TEST(file_checks, warn_when_the_disk_is_almost_full) {
  constexpr std::uint64_t much = std::uint64_t{1} << 40;
  EXPECT_EQ(room(much, 1'000'000), severity::fine);
  EXPECT_EQ(room(much, std::nullopt), severity::fine);
  EXPECT_EQ(room(5'000'000, 1'000'000), severity::warning);
  EXPECT_EQ(room(much, 100), severity::warning);
  EXPECT_EQ(room(100'000, 1'000'000), severity::danger);
  EXPECT_EQ(room(much, 0), severity::danger);
}

TEST(file_checks, note_what_dead_processes_have_left) {
  const auto of = [](const remains& left) { return level([&](auto& found) { judge_remains(left, found); }); };
  EXPECT_EQ(of({.sessions = 2}), severity::fine);
  EXPECT_EQ(of({.sessions = 2, .dead = 1, .places = 3}), severity::note);
  EXPECT_EQ(of({.sessions = 2, .sockets = 1}), severity::note);
}

TEST(file_checks, report_what_sqlite_finds_in_the_database) {
  const auto said = [](const char* text) {
    return level([&](auto& found) { judge_integrity(text, "/a/locks.db", found); });
  };
  EXPECT_EQ(said("ok"), severity::fine);
  EXPECT_EQ(said(""), severity::note);
  EXPECT_EQ(said("row 1 missing from index fixed"), severity::danger);
  EXPECT_EQ(level([](auto& found) { judge_journal("wal", found); }), severity::fine);
  EXPECT_EQ(level([](auto& found) { judge_journal("delete", found); }), severity::warning);
}

}  // namespace
}  // namespace holdfast::directory
