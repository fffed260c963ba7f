#include "net/socket.hpp"

#include <gtest/gtest.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>

#include "net/ready.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

/// A server at a unix socket that sends what the test tells it to.
class listening {
 public:
  explicit listening(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const address a = unix_address(path);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&a.where), a.size), 0);
    EXPECT_EQ(::listen(fd_, 4), 0);
  }
  listening(const listening&) = delete;
  listening& operator=(const listening&) = delete;
  ~listening() { ::close(fd_); }
  [[nodiscard]] int accept() const { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  const int fd_;
};

class socket_to_a_server : public testing::Test {
 protected:
  void SetUp() override {
    stream_ = connect({unix_address(path_)}, 1s, within(1min));
    peer_ = server_.accept();
  }
  void TearDown() override { ::close(peer_); }
  std::string received() {
    char buffer[64];
    const std::size_t n = stream_->receive(buffer);
    return {buffer, n};
  }

  test::temporary_folder folder_;
  const std::string path_ = folder_.file("socket");
  listening server_{path_};
  std::unique_ptr<stream> stream_;
  int peer_ = -1;
};

TEST_F(socket_to_a_server, carries_bytes_both_ways) {
  EXPECT_EQ(stream_->send("hello"), 5u);
  char heard[8] = {};
  EXPECT_EQ(::read(peer_, heard, sizeof heard), 5);
  EXPECT_STREQ(heard, "hello");
  EXPECT_EQ(::write(peer_, "world", 5), 5);
  EXPECT_EQ(wait_readable(stream_->fd(), within(1min)), readiness::ready);
  EXPECT_EQ(received(), "world");
}

TEST_F(socket_to_a_server, does_not_block_when_nothing_is_available) {
  EXPECT_EQ(received(), "");
  std::string much(1 << 16, 'x');
  while (stream_->send(much) != 0) {
  }
  EXPECT_EQ(stream_->send("x"), 0u);
}

TEST_F(socket_to_a_server, receive_soon_waits_briefly_for_bytes) {
  char buffer[8];
  EXPECT_EQ(stream_->receive_soon(buffer), 0u);
  EXPECT_EQ(::write(peer_, "x", 1), 1);
  EXPECT_EQ(stream_->receive_soon(buffer), 1u);
}

TEST_F(socket_to_a_server, breaks_when_the_server_has_closed) {
  ::close(peer_);
  peer_ = -1;
  EXPECT_THROW((void)received(), broken);
  EXPECT_THROW((void)stream_->send("x"), broken);
}

TEST(connect, reports_why_it_failed) {
  const test::temporary_folder folder;
  try {
    (void)connect({unix_address(folder.file("nobody"))}, 1s, within(1min));
    ADD_FAILURE();
  } catch (const broken& e) {
    EXPECT_STREQ(e.what(), "No such file or directory");
    EXPECT_FALSE(e.for_good());
  }
  EXPECT_THROW((void)connect({}, 1s, within(1min)), broken);
}

TEST(connect, tries_the_next_address_when_one_does_not_answer) {
  const test::temporary_folder folder;
  const listening server(folder.file("there"));
  EXPECT_TRUE(connect({unix_address(folder.file("gone")), unix_address(folder.file("there"))}, 1s, within(1min)));
}

TEST(unix_address, rejects_a_path_that_is_too_long) {
  const std::size_t most = sizeof(sockaddr_un::sun_path) - 1;
  EXPECT_NO_THROW((void)unix_address(std::string(most, 'x')));
  try {
    (void)unix_address(std::string(most + 1, 'x'));
    ADD_FAILURE();
  } catch (const broken& e) {
    EXPECT_TRUE(e.for_good());
  }
}

TEST(resolve, needs_no_name_server_for_a_numeric_address) {
  EXPECT_EQ(resolve("127.0.0.1", 6379, within(1min)).size(), 1u);
  const std::vector<address> v6 = resolve("::1", 6379, within(1min));
  ASSERT_EQ(v6.size(), 1u);
  EXPECT_EQ(v6[0].where.ss_family, AF_INET6);
}

}  // namespace
}  // namespace holdfast::net
