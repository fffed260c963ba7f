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
  const std::vector<session_id> nobody_;
};

owner_bytes numbered(std::size_t n) {
  owner_bytes owner{};
  std::memcpy(owner.data(), &n, sizeof n);
  return owner;
}

bool is_called(addressee& a) { return runtime::wait_here(a.called, within(test::hang)) == runtime::wake::signalled; }

TEST_F(inboxes, call_whom_a_message_is_for_and_keep_a_grant_for_it) {
  addressee granted, urged;
  runtime::loop loop;
  inbox to(folder_, 1, nobody_, loop);
  const inbox from(folder_, 2, nobody_, loop);
  to.add(numbered(1), granted);
  to.add(numbered(2), urged);
  EXPECT_TRUE(from.send(1, {.owner = numbered(1), .fence = 7}));
  EXPECT_TRUE(from.send(1, {.owner = numbered(2)}));
  EXPECT_TRUE(from.send(1, {.owner = numbered(3), .fence = 8})) << "to nobody";
  loop.start();
  EXPECT_TRUE(is_called(granted));
  EXPECT_TRUE(is_called(urged));
  EXPECT_EQ(granted.granted.with([](const auto& last) { return last ? last->fence : 0; }), 7u);
  EXPECT_FALSE(urged.granted.with([](const auto& last) { return last.has_value(); }));
}

TEST_F(inboxes, that_are_gone_are_known_to_be) {
  runtime::loop loop;
  const inbox from(folder_, 2, nobody_, loop);
  {
    const inbox gone(folder_, 1, nobody_, loop);
    EXPECT_TRUE(from.send(1, message()));
  }
  EXPECT_FALSE(from.send(1, message()));
}

TEST_F(inboxes, that_had_no_room_for_some_messages_call_all_and_let_what_is_held_be_looked_at) {
  std::size_t room = 0;
  ASSERT_TRUE(std::ifstream("/proc/sys/net/unix/max_dgram_qlen") >> room);
  std::deque<addressee> all(2 * room + 10);
  std::counting_semaphore<> doubts(0);
  runtime::loop loop;
  inbox to(folder_, 1, nobody_, loop);
  const inbox from(folder_, 2, nobody_, loop);
  to.when_in_doubt([&] { doubts.release(); });
  for (std::size_t n = 0; n < all.size(); ++n) to.add(numbered(n), all[n]);
  for (std::size_t n = 0; n < all.size(); ++n) EXPECT_TRUE(from.send(1, {.owner = numbered(n), .fence = 1}));
  loop.start();  // nothing was read before
  for (addressee& each : all) ASSERT_TRUE(is_called(each));
  EXPECT_FALSE(all.back().granted.with([](const auto& last) { return last.has_value(); })) << "there was room for all";
  EXPECT_TRUE(test::happens(doubts));
}

#if !HOLDFAST_UNDER_TSAN

/// Puts another file in the place of a loop's epoll: it cannot watch anything any more.
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

TEST_F(inboxes, that_could_not_be_watched_close_nothing_in_children) {
  runtime::loop loop;
  blind(epoll_of_this_process());
  EXPECT_THROW(inbox(folder_, 1, nobody_, loop), std::system_error);
  const descriptor others(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open");  // it gets the number of the socket
  test::child son([&] { return ::fcntl(others.get(), F_GETFD) != -1; });
  EXPECT_TRUE(son.ends_well());
}

#endif

}  // namespace
}  // namespace holdfast::directory
