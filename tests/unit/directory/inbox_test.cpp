#include "directory/inbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/inline_io.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {
namespace {

class inboxes : public testing::Test {
 protected:
  test::temporary_folder there_;
  folder folder_{there_.file("locks")};
  const std::vector<session_id> none_;
};

owner_bytes numbered(std::size_t n) {
  owner_bytes owner{};
  std::memcpy(owner.data(), &n, sizeof n);
  return owner;
}

bool is_called(receiver& r) { return runtime::wait_here(r.called, within(test::hang)) == runtime::wake::signalled; }

TEST_F(inboxes, wake_the_receiver_of_a_message_and_keep_its_grant) {
  runtime::loop loop;
  inbox to(folder_, 1, none_, loop);
  const inbox from(folder_, 2, none_, loop);
  receiver granted(to, numbered(1)), called(to, numbered(2));
  EXPECT_EQ(from.send(1, {.owner = numbered(1), .fence = 7}), inbox::result::sent);
  EXPECT_EQ(from.send(1, {.owner = numbered(2)}), inbox::result::sent);
  EXPECT_EQ(from.send(1, {.owner = numbered(3), .fence = 8}), inbox::result::sent) << "without a receiver";
  loop.start();
  EXPECT_TRUE(is_called(granted));
  EXPECT_TRUE(is_called(called));
  EXPECT_EQ(granted.granted.with([](const auto& last) { return last ? last->fence : 0; }), 7u);
  EXPECT_FALSE(called.granted.with([](const auto& last) { return last.has_value(); }));
}

TEST_F(inboxes, report_that_a_receiver_is_gone) {
  runtime::loop loop;
  const inbox from(folder_, 2, none_, loop);
  {
    const inbox gone(folder_, 1, none_, loop);
    EXPECT_EQ(from.send(1, message()), inbox::result::sent);
  }
  EXPECT_EQ(from.send(1, message()), inbox::result::gone);
}

TEST_F(inboxes, wake_all_receivers_and_verify_leases_after_an_overflow) {
  std::size_t capacity = 0;
  ASSERT_TRUE(std::ifstream("/proc/sys/net/unix/max_dgram_qlen") >> capacity);
  std::counting_semaphore<> overflows(0);
  runtime::loop loop;
  inbox to(folder_, 1, none_, loop);
  const inbox from(folder_, 2, none_, loop);
  std::deque<receiver> all;
  to.when_overflowed([&] { overflows.release(); });
  for (std::size_t n = 0; n < 2 * capacity + 10; ++n) all.emplace_back(to, numbered(n));
  for (std::size_t n = 0; n < all.size(); ++n) {
    EXPECT_NE(from.send(1, {.owner = numbered(n), .fence = 1}), inbox::result::gone);
  }
  loop.start();  // nothing was read before
  for (receiver& each : all) ASSERT_TRUE(is_called(each));
  EXPECT_FALSE(all.back().granted.with([](const auto& last) { return last.has_value(); })) << "nothing overflowed";
  EXPECT_TRUE(test::happens(overflows));
}

#if !HOLDFAST_UNDER_TSAN

/// Replaces the epoll of a loop by another file, so that the loop cannot watch anything.
void blind(int epoll) {
  const descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open");
  ASSERT_EQ(::dup3(nothing.get(), epoll, O_CLOEXEC), epoll);
}

int epoll_of_this_process() {
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(each.path(), gone).string();
    if (what.find("eventpoll") != std::string::npos) return std::stoi(each.path().filename().string());
  }
  return -1;
}

TEST_F(inboxes, close_nothing_in_children_after_a_failed_open) {
  runtime::loop loop;
  blind(epoll_of_this_process());
  EXPECT_THROW(inbox(folder_, 1, none_, loop), std::system_error);
  const descriptor other(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open");  // gets the number of the closed socket
  test::child child([&] { return ::fcntl(other.get(), F_GETFD) != -1; });
  EXPECT_TRUE(child.ends_well());
}

#endif

}  // namespace
}  // namespace holdfast::directory
