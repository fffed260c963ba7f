// Each single file of a store is deleted or replaced while one client holds a lock and another waits for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "faults/directory_store.hpp"
#include "support/bounds.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

enum class damage { deleted, replaced_by_an_empty_file, replaced_by_a_copy };

struct lost_file {
  std::string name;
  damage how;
};

void spoil(const std::string& path, damage how) {
  if (how == damage::deleted) {
    fs::remove_all(path);
    return;
  }
  const std::string other = path + ".other";
  std::ofstream(other, std::ios::binary).flush();
  if (how == damage::replaced_by_a_copy) fs::copy_file(path, other, fs::copy_options::overwrite_existing);
  fs::permissions(other, fs::perms::owner_read | fs::perms::owner_write);
  fs::rename(other, path);
}

std::vector<lost_file> each_way(const std::vector<std::string>& names) {
  std::vector<lost_file> all;
  for (const std::string& each : names) {
    for (const damage how : {damage::deleted, damage::replaced_by_a_copy, damage::replaced_by_an_empty_file}) {
      all.push_back({each, how});
    }
  }
  return all;
}

std::string title_of(const testing::TestParamInfo<lost_file>& one) {
  constexpr const char* ways[] = {"deleted", "replaced_by_an_empty_file", "replaced_by_a_copy"};
  std::string title = one.param.name + "_" + ways[static_cast<int>(one.param.how)];
  for (char& c : title) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return title;
}

/// A holder and a waiter of one lock, in two clients.
class directory_lost_files : public testing::TestWithParam<lost_file> {
 protected:
  using failure = std::pair<std::error_code, std::string>;
  struct listener final : observer {
    void on(const event& e) noexcept override {
      if (e.what == event::kind::waiting) waits.release();
    }
    std::counting_semaphore<> waits{0};
  };

  void SetUp() override {
    wait();
    ASSERT_TRUE(test::happens(listener_->waits));
  }
  void wait() {
    waiter_ = std::async(std::launch::async, [this] {
      return failure_of([&] {
        const lease held = second_->acquire("a");
        EXPECT_TRUE(held.held());
      });
    });
  }
  /// The socket of the holder is the oldest one, that of the waiter the newest.
  [[nodiscard]] std::string path() const {
    const std::string& name = GetParam().name;
    if (name != "socket of the holder" && name != "socket of the waiter") return there_.file(name);
    std::vector<int> sockets;
    for (const auto& each : fs::directory_iterator(there_.file("inboxes"))) {
      sockets.push_back(std::stoi(each.path().filename()));
    }
    const auto [oldest, newest] = std::minmax_element(sockets.begin(), sockets.end());
    return there_.file("inboxes/" + std::to_string(name == "socket of the holder" ? *oldest : *newest));
  }

  directory_store there_;
  std::shared_ptr<listener> listener_ = std::make_shared<listener>();
  std::optional<store> first_ = there_.open();
  std::optional<lease> held_ = first_->acquire("a");
  std::optional<store> second_ = there_.open({.observe = listener_});
  std::future<failure> waiter_;
};

class directory_guarded_files : public directory_lost_files {};

TEST_P(directory_guarded_files, report_loss_to_a_holder_that_makes_no_request) {
  const std::stop_token lost = held_->lost_token();
  spoil(path(), GetParam().how);
  EXPECT_TRUE(test::happens(lost));
  EXPECT_FALSE(held_->held());
  const auto [code, text] = test::get(std::move(waiter_));
  EXPECT_EQ(code, errc::foreign) << text;
  EXPECT_TRUE(contains(text, "deleted or replaced")) << text;
}

TEST_P(directory_guarded_files, are_checked_before_every_grant) {
  spoil(path(), GetParam().how);
  const auto [code, text] = failure_of([&] { (void)first_->acquire("b"); });
  EXPECT_EQ(code, errc::foreign) << text;
  EXPECT_TRUE(contains(text, GetParam().name + " was deleted or replaced")) << text;
  EXPECT_EQ(test::get(std::move(waiter_)).first, errc::foreign);
}

TEST_P(directory_guarded_files, allow_one_holder_when_others_open_the_store) {
  const std::stop_token lost = held_->lost_token();
  spoil(path(), GetParam().how);
  std::optional<store> third;
  std::optional<lease> thirds;
  (void)failure_of([&] {
    third = there_.open();
    thirds = third->try_acquire("a");
  });
  EXPECT_TRUE(test::happens(lost));
  EXPECT_EQ(test::get(std::move(waiter_)).first, errc::foreign);
  if (thirds) {
    EXPECT_TRUE(thirds->held());
  }
  held_.reset();
  first_.reset();
  second_.reset();
  thirds.reset();
  third.reset();
  EXPECT_TRUE(there_.open().try_acquire("a", within(test::hang))) << "works again when all clients have closed it";
}

INSTANTIATE_TEST_SUITE_P(of, directory_guarded_files,
                         testing::ValuesIn(each_way({"locks.db", "locks.db-wal", "locks.db-shm", "sessions"})),
                         title_of);

class directory_other_files : public directory_lost_files {};

TEST_P(directory_other_files, keep_the_holder_and_the_queue) {
  spoil(path(), GetParam().how);
  {
    store third = there_.open();
    EXPECT_FALSE(third.try_acquire("a"));
    EXPECT_TRUE(third.try_acquire("b"));
  }
  EXPECT_TRUE(held_->held());
  held_->release();
  const failure ended = test::get(std::move(waiter_));
  EXPECT_FALSE(ended.first) << ended.second;
  EXPECT_TRUE(first_->try_acquire("a", within(test::hang)));
}

TEST_P(directory_other_files, notify_a_holder_whose_lock_is_broken) {
  const std::stop_token lost = held_->lost_token();
  spoil(path(), GetParam().how);
  EXPECT_TRUE(there_.open().break_lock("a", held_->fence(), "a test"));
  EXPECT_TRUE(test::happens(lost));
  EXPECT_FALSE(test::get(std::move(waiter_)).first);
}

std::vector<lost_file> other_files() {
  std::vector<lost_file> all = each_way({"writers"});
  for (const char* each : {"fences", "inboxes", "socket of the holder", "socket of the waiter"}) {
    all.push_back({each, damage::deleted});
  }
  all.push_back({"fences", damage::replaced_by_a_copy});
  all.push_back({"socket of the holder", damage::replaced_by_an_empty_file});
  return all;
}
INSTANTIATE_TEST_SUITE_P(of, directory_other_files, testing::ValuesIn(other_files()), title_of);

TEST(directory_old_files, are_refreshed_while_the_store_is_in_use) {
  const directory_store d;
  store s = d.open();
  (void)s.acquire("a");
  const auto last_month = fs::file_time_type::clock::now() - 24h * 30;
  for (const auto& each : fs::recursive_directory_iterator(d.path())) {
    if (!each.is_directory() && !each.is_socket()) fs::last_write_time(each.path(), last_month);
  }
  const auto is_old = [&](const auto& entry) {
    return !entry.is_directory() && entry.last_write_time() < last_month + 1h;
  };
  const lease held = d.open().acquire("a");
  EXPECT_TRUE(test::eventually([&] {
    const fs::recursive_directory_iterator all(d.path());
    return std::none_of(begin(all), end(all), is_old);
  }));
}

TEST(directory_old_files, without_fences_are_replaced_when_not_in_use) {
  const directory_store d;
  std::uint64_t last = 0;
  {
    store s = d.open();
    EXPECT_TRUE(fs::exists(d.file("fences"))) << "also in a store that has only latches";
    latch(s, "once", 2).count_down();
    last = s.acquire("a").fence();
    fs::remove(d.file("fences"));
    latch(d.open(), "once", 2).count_down();
    EXPECT_TRUE(fs::exists(d.file("fences"))) << "the next client writes it again";
    latch(s, "twice", 2).count_down();
    fs::remove(d.file("fences"));
  }
  store s = d.open();
  EXPECT_NO_THROW(latch(s, "twice", 2).count_down(2)) << "the tables may be of an earlier boot";
  EXPECT_GT(s.acquire("a").fence(), last);
}

}  // namespace
}  // namespace holdfast::faults
