// Files that are missing, damaged or replaced, and full disks.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "faults/directory_store.hpp"
#include "support/bounds.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST(directory_files, are_created_for_their_owner_only) {
  const directory_store d;
  store s = d.open();
  const lease held = s.acquire("a");
  struct stat is{};
  ASSERT_EQ(::stat(d.path().c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 07777, 0700u);
  for (const auto& each : fs::directory_iterator(d.path())) {
    ASSERT_EQ(::stat(each.path().c_str(), &is), 0);
    EXPECT_EQ(is.st_mode & 0077, 0u) << each.path();
  }
}

TEST(directory_files, leave_no_socket_behind_when_all_clients_have_left) {
  const directory_store d;
  {
    store s = d.open();
    const lease held = s.acquire("a");
  }
  EXPECT_TRUE(fs::is_empty(d.file("inboxes")));
}

TEST(directory_files, report_a_missing_parent_with_its_path) {
  const directory_store d;
  const auto [code, text] = failure_of([&] { (void)open(d.url() + "/no/such"); });
  EXPECT_EQ(code, errc::bad_url);
  EXPECT_TRUE(contains(text, d.path() + "/no/such")) << text;
  EXPECT_TRUE(contains(text, "create that first")) << text;
}

TEST(directory_files, need_an_absolute_path) {
  for (const char* url : {"dir:", "dir:locks", "dir:./locks"}) {
    const auto [code, text] = failure_of([&] { (void)open(url); });
    EXPECT_EQ(code, errc::bad_url) << url;
    EXPECT_TRUE(contains(text, "absolute path")) << text;
  }
}

TEST(directory_files, are_not_created_in_a_directory_with_other_files) {
  const directory_store d;
  fs::create_directory(d.path());
  std::ofstream(d.file("report.txt")) << "precious";
  const auto [code, text] = failure_of([&] { (void)d.open(); });
  EXPECT_EQ(code, errc::bad_url) << text;
  EXPECT_TRUE(contains(text, "report.txt")) << text;
  EXPECT_TRUE(contains(text, "for example dir:" + d.path() + "/locks")) << text;
  EXPECT_EQ(std::distance(fs::directory_iterator(d.path()), {}), 1);
  const auto [code_of_root, text_of_root] = failure_of([] { (void)open("dir:/"); });
  EXPECT_EQ(code_of_root, errc::bad_url) << text_of_root;
  EXPECT_TRUE(contains(text_of_root, "for example dir:/locks")) << text_of_root;
  EXPECT_FALSE(fs::exists("/locks.db"));
}

TEST(directory_files, are_created_in_an_empty_or_half_created_store) {
  for (const char* left : {"", "lost+found/", "sessions", "writers", "inboxes/", "locks.db", "fences.new"}) {
    const directory_store d;
    fs::create_directory(d.path());
    fs::permissions(d.path(), fs::perms::owner_all);
    if (const std::string name = left; name.ends_with('/')) {
      fs::create_directory(d.path() + "/" + name);
    } else if (!name.empty()) {
      std::ofstream(d.file(name)).flush();
    }
    EXPECT_TRUE(d.open().try_acquire("a")) << left;
    std::ofstream(d.file("report.txt")) << "the directory is a store now";
    EXPECT_TRUE(d.open().try_acquire("a")) << left;
  }
}

TEST(directory_files, are_created_by_several_clients_at_once) {
  for (int k = 0; k < 10; ++k) {
    const directory_store d;
    std::vector<std::future<bool>> all;
    for (int n = 0; n < 8; ++n) {
      all.push_back(
          std::async(std::launch::async, [&, n] { return d.open().try_acquire(std::to_string(n)).has_value(); }));
    }
    for (auto& each : all) EXPECT_TRUE(test::get(std::move(each)));
  }
}

TEST(directory_files, refuse_a_file_that_is_no_database_and_keep_it) {
  const directory_store d;
  fs::create_directory(d.path());
  fs::permissions(d.path(), fs::perms::owner_all);
  const std::string precious(5000, 'x');
  std::ofstream(d.file("locks.db")) << precious;
  const auto [code, text] = failure_of([&] { (void)d.open(); });
  EXPECT_EQ(code, errc::foreign) << text;
  EXPECT_TRUE(contains(text, "locks.db")) << text;
  std::ifstream back(d.file("locks.db"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(back), {}), precious);
}

void run_sql(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 10'000);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST(directory_files, refuse_a_newer_version_and_name_both_versions) {
  const directory_store d;
  (void)d.open();
  run_sql(d.file("locks.db"), "PRAGMA user_version = 99");
  const auto [code, text] = failure_of([&] { (void)d.open(); });
  EXPECT_EQ(code, errc::foreign);
  EXPECT_TRUE(contains(text, "newer version")) << text;
  EXPECT_TRUE(contains(text, "99")) << text;
}

TEST(directory_files, replace_an_older_version_and_keep_fences_growing) {
  const directory_store d;
  const std::uint64_t last = d.open().acquire("a").fence();
  run_sql(d.file("locks.db"),
          "DROP TABLE session; CREATE TABLE session(of, another, shape); ALTER TABLE mint ADD COLUMN more;"
          "UPDATE mint SET last = last + 1000000000, reserved = reserved + 1000000000; PRAGMA user_version = 1");
  store s = d.open();
  EXPECT_GT(s.acquire("a").fence(), last + 1'000'000'000);
  EXPECT_TRUE(d.open().try_acquire("a"));
}

TEST(directory_files, refuse_an_older_version_that_is_in_use) {
  const directory_store d;
  const store s = d.open();
  run_sql(d.file("locks.db"), "PRAGMA user_version = 1");
  const auto [code, text] = failure_of([&] { (void)d.open(); });
  EXPECT_EQ(code, errc::foreign);
  EXPECT_TRUE(contains(text, "older version")) << text;
  EXPECT_TRUE(contains(text, "in use")) << text;
}

TEST(directory_files, refuse_a_database_of_another_program) {
  for (const char* other : {"CREATE TABLE precious(x); PRAGMA user_version = 1", "CREATE TABLE precious(x)"}) {
    const directory_store d;
    fs::create_directory(d.path());
    fs::permissions(d.path(), fs::perms::owner_all);
    run_sql(d.file("locks.db"), other);
    const auto [code, text] = failure_of([&] { (void)d.open(); });
    EXPECT_EQ(code, errc::foreign) << text;
  }
}

TEST(directory_files, report_loss_and_name_the_directory_when_it_is_deleted) {
  const directory_store d;
  store s = d.open();
  lease held = s.acquire("a");
  const std::stop_token lost = held.lost_token();
  fs::remove_all(d.path());
  EXPECT_TRUE(test::happens(lost)) << "another client may hold it by now";
  EXPECT_FALSE(held.held());
  const auto [code, text] = failure_of([&] { (void)s.acquire("b"); });
  EXPECT_EQ(code, errc::foreign) << text;
  EXPECT_TRUE(contains(text, "deleted or replaced")) << text;
  EXPECT_TRUE(d.open().try_acquire("a")) << "the store works after it is opened again";
}

TEST(directory_files, report_an_error_to_waiters_when_they_are_deleted) {
  const directory_store d;
  store first = d.open(), second = d.open();
  const lease held = first.acquire("a");
  const auto seen = std::make_shared<std::promise<void>>();
  struct listener final : observer {
    explicit listener(std::shared_ptr<std::promise<void>> to) : waiting(std::move(to)) {}
    void on(const event& e) noexcept override {
      if (e.what == event::kind::waiting) waiting->set_value();
    }
    std::shared_ptr<std::promise<void>> waiting;
  };
  store third = d.open({.observe = std::make_shared<listener>(seen)});
  auto waiter = std::async(std::launch::async, [&] { return failure_of([&] { (void)third.acquire("a"); }).first; });
  ASSERT_TRUE(test::happens(seen->get_future()));
  fs::remove_all(d.path());
  EXPECT_EQ(test::get(std::move(waiter)), errc::foreign);
}

TEST(directory_files, report_loss_when_a_parent_directory_is_moved_away) {
  const directory_store d;
  const std::string above = fs::path(d.path()).parent_path(), url = "dir:" + above + "/deep/locks";
  fs::create_directory(above + "/deep");
  store s = open(url);
  lease held = s.acquire("a");
  const std::stop_token lost = held.lost_token();
  fs::rename(above + "/deep", above + "/elsewhere");
  fs::create_directory(above + "/deep");
  EXPECT_EQ(failure_of([&] { (void)s.acquire("b"); }).first, errc::foreign);
  EXPECT_TRUE(test::happens(lost));
  EXPECT_TRUE(open(url).try_acquire("a"));
}

TEST(directory_files, replace_an_earlier_boot_and_continue_above_the_reserve) {
  const directory_store d;
  std::uint64_t last = 0;
  {
    last = d.open().acquire("a").fence();
  }
  const std::uint64_t reserved = last + 123'456'789'000;  // far ahead of the clock
  std::ofstream(d.file("fences")) << "holdfast 1 another-boot " << reserved << "\n";
  std::ofstream(d.file("locks.db")) << "left over after a power loss";
  EXPECT_GT(d.open().acquire("a").fence(), reserved);
}

TEST(directory_files, refuse_unknown_fence_files) {
  for (const char* text : {"holdfast 2 boot 1 more\n", "precious", ""}) {
    const directory_store d;
    {
      const store s = d.open();
    }
    std::ofstream(d.file("fences")) << text;
    EXPECT_EQ(failure_of([&] { (void)d.open(); }).first, errc::foreign) << text;
  }
}

TEST(directory_files, refuse_a_database_without_the_last_fence) {
  const directory_store d;
  store s = d.open();
  run_sql(d.file("locks.db"), "DELETE FROM mint");
  const auto [code, text] = failure_of([&] { (void)s.acquire("a"); });
  EXPECT_EQ(code, errc::foreign) << text;
  EXPECT_TRUE(contains(text, "locks.db")) << text;
}

TEST(directory_files, report_a_truncated_database_and_do_not_hang) {
  const directory_store d;
  store s = d.open();
  {
    const lease held = s.acquire("a");
  }
  run_sql(d.file("locks.db"), "PRAGMA wal_checkpoint(TRUNCATE)");
  fs::resize_file(d.file("locks.db"), 100);
  const auto [code, text] = failure_of([&] { (void)s.acquire("b"); });
  EXPECT_EQ(code, errc::foreign) << text;
  EXPECT_TRUE(contains(text, "locks.db")) << text;
}

/// A small tmpfs, mounted for the lifetime of this object. Needs root.
class small_file_system {
 public:
  explicit small_file_system(unsigned long flags = 0) {
    fs::create_directory(path());
    if (::mount("holdfast-test", path().c_str(), "tmpfs", flags, "size=512k,mode=0700") != 0) {
      throw std::system_error(errno, std::generic_category(), "this test mounts a tmpfs, which only root may");
    }
  }
  ~small_file_system() { ::umount2(path().c_str(), MNT_DETACH); }
  small_file_system(const small_file_system&) = delete;
  small_file_system& operator=(const small_file_system&) = delete;

  [[nodiscard]] std::string path() const { return folder_.file("small"); }
  void fill() const {
    std::ofstream ballast(path() + "/ballast", std::ios::binary | std::ios::app);
    const std::string block(4096, 'x');
    while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void make_room() const { fs::remove(path() + "/ballast"); }
  void make_read_only() const {
    ASSERT_EQ(::mount(nullptr, path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=512k"), 0)
        << std::strerror(errno);
  }

 private:
  test::temporary_folder folder_;
};

TEST(directory_files, report_a_full_disk_and_recover_when_there_is_room) {
  const small_file_system disk;
  store s = open("dir:" + disk.path() + "/locks", {.patience = 50ms});
  {
    const lease held = s.acquire("a");
  }
  disk.fill();
  // The log may have free pages for a while.
  std::pair<std::error_code, std::string> failed;
  for (int k = 0; k < 1000 && !failed.first; ++k) {
    failed = failure_of([&] { (void)s.acquire("name " + std::to_string(k) + std::string(400, 'x')).owner(); });
  }
  EXPECT_EQ(failed.first, errc::not_ready) << failed.second;
  EXPECT_TRUE(contains(failed.second, "disk is full")) << failed.second;
  disk.make_room();
  EXPECT_TRUE(s.try_acquire("a", within(test::hang)));
}

TEST(directory_files, keep_no_lock_after_a_full_disk) {
  const small_file_system disk;
  const std::string url = "dir:" + disk.path() + "/locks";
  store s = open(url, {.patience = 50ms});
  std::vector<lease> held;
  for (int k = 0; k < 20; ++k) held.push_back(s.acquire("a" + std::to_string(k)));
  std::promise<void> waits;
  struct listener final : observer {
    explicit listener(std::promise<void>& to) : waiting(to) {}
    void on(const event& e) noexcept override {
      if (e.what == event::kind::waiting) waiting.set_value();
    }
    std::promise<void>& waiting;
  };
  store queue = open(url, {.patience = 50ms, .observe = std::make_shared<listener>(waits)});
  std::stop_source give_up;
  std::error_code why;
  auto waiter = std::async(std::launch::async,
                           [&] { return queue.try_acquire("a0", until(give_up.get_token()), {}, why).has_value(); });
  ASSERT_TRUE(test::happens(waits.get_future()));
  disk.fill();
  // The last page of the log may have room for some.
  bool full = false;
  for (int k = 0; k < 1000 && !full; ++k) {
    full = failure_of([&] { (void)s.acquire("name " + std::to_string(k) + std::string(400, 'x')).owner(); }).first !=
           std::error_code();
  }
  ASSERT_TRUE(full);
  give_up.request_stop();  // the waiter cannot leave the queue now
  EXPECT_FALSE(test::get(std::move(waiter)));
  int unknown = 0;
  for (lease& l : held) unknown += l.release() == released::unknown ? 1 : 0;
  EXPECT_GT(unknown, 0) << "the disk was not full for a release";
  disk.make_room();
  store other = open(url);
  for (std::size_t k = 0; k < held.size(); ++k) {
    EXPECT_TRUE(other.try_acquire("a" + std::to_string(k), within(test::hang))) << k;
  }
}

TEST(directory_files, report_a_read_only_file_system) {
  const small_file_system disk;
  disk.make_read_only();
  const auto [code, text] = failure_of([&] { (void)open("dir:" + disk.path() + "/locks"); });
  EXPECT_TRUE(code == errc::denied || code == errc::not_ready) << text;
  EXPECT_TRUE(contains(text, "ead-only")) << text;
}

}  // namespace
}  // namespace holdfast::faults
