#include "redis/transport/connection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/replies.hpp"

namespace holdfast::redis {
namespace {

/// A server in memory: what it sends, and what it received.
struct memory_stream final : net::stream {
  std::size_t receive(std::span<char> into) override {
    const std::size_t n = endless ? into.size() : std::min(into.size(), said.size());
    if (endless) {
      std::fill(into.begin(), into.end(), '\n');
    } else {
      std::copy_n(said.begin(), n, into.begin());
      said.erase(0, n);
    }
    received += n;
    return n;
  }
  std::size_t receive_soon(std::span<char> into) override { return receive(into); }
  std::size_t send(std::string_view bytes) override {
    const std::size_t n = std::min(bytes.size(), room);
    room -= n;
    heard.append(bytes.substr(0, n));
    return n;
  }
  [[nodiscard]] int fd() const noexcept override { return -1; }

  std::string said, heard;
  std::size_t room = 1 << 20;
  std::size_t received = 0;
  bool endless = false;
};

class redis_connection : public testing::Test {
 protected:
  redis_connection() {
    auto made = std::make_unique<memory_stream>();
    server_ = made.get();
    connection_ = std::make_unique<connection>(std::move(made), true);
  }
  memory_stream* server_;
  std::unique_ptr<connection> connection_;
};

TEST_F(redis_connection, sends_what_fits_and_keeps_the_rest) {
  server_->room = 3;
  std::string bytes = "hello";
  EXPECT_FALSE(connection_->send(bytes));
  EXPECT_EQ(bytes, "lo");
  server_->room = 3;
  EXPECT_TRUE(connection_->send(bytes));
  EXPECT_EQ(bytes, "");
  EXPECT_EQ(server_->heard, "hello");
}

TEST_F(redis_connection, receives_all_that_has_arrived) {
  EXPECT_FALSE(connection_->receive());
  server_->said = "$100000\r\n" + std::string(100'000, 'x') + "\r\n:7\r\n:8";
  EXPECT_TRUE(connection_->receive());
  EXPECT_EQ(connection_->next()->text.size(), 100'000u);
  EXPECT_EQ(connection_->next()->number, 7);
  EXPECT_FALSE(connection_->next());
  EXPECT_FALSE(connection_->receive_soon());
  server_->said = "\r\n";
  EXPECT_TRUE(connection_->receive_soon());
  EXPECT_EQ(connection_->next()->number, 8);
}

TEST_F(redis_connection, reads_an_endless_stream_in_parts) {
  server_->endless = true;
  EXPECT_TRUE(connection_->receive());
  EXPECT_LE(server_->received, connection::most_at_once);
}

}  // namespace
}  // namespace holdfast::redis
