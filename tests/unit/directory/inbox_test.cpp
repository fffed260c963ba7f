#include "directory/inbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "support/child.hpp"
#include "support/sanitizer.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {
namespace {

class inboxes : public testing::Test {
 protected:
  test::temporary_folder there_;
  folder folder_{there_.file("locks")};
};

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
  const std::vector<session_id> nobody;
  EXPECT_THROW(inbox(folder_, 1, nobody, loop), std::system_error);
  const descriptor others(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open");  // it gets the number of the socket
  test::child son([&] { return ::fcntl(others.get(), F_GETFD) != -1; });
  EXPECT_TRUE(son.ends_well());
}

#endif

}  // namespace
}  // namespace holdfast::directory
