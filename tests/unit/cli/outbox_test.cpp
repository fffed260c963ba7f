#include "process/io.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <csignal>

namespace holdfast::cli {
namespace {

/// A pipe with room for one page, and without a reader yet.
pipe_ends narrow_pipe() {
  std::signal(SIGPIPE, SIG_IGN);
  pipe_ends ends = make_pipe();
  ::fcntl(ends.write.get(), F_SETPIPE_SZ, 4096);
  ::fcntl(ends.read.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

bool write_what_fits(outbox& out) {
  for (;;) {
    pollfd reader = out.reader();
    if (::poll(&reader, 1, 0) == 0) return true;
    if (!out.write(reader)) return false;
  }
}

std::string read_all(const descriptor& from) {
  std::string all;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(from.get(), part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(n));
  return all;
}

TEST(outbox, loses_nothing_with_a_slow_reader) {
  const pipe_ends ends = narrow_pipe();
  outbox out(ends.write.get());
  std::string put, got;
  for (int n = 0; n < 5'000; ++n) {
    const std::string line = "line " + std::to_string(n) + "\n";
    out.put(line);
    put += line;
    ASSERT_TRUE(write_what_fits(out));  // does not block
  }
  EXPECT_FALSE(out.empty());
  while (!out.empty()) {
    got += read_all(ends.read);
    ASSERT_TRUE(write_what_fits(out));
  }
  got += read_all(ends.read);
  EXPECT_EQ(got, put);
}

TEST(outbox, signals_new_text_and_then_waits_for_room) {
  const pipe_ends ends = narrow_pipe();
  outbox out(ends.write.get());
  pollfd news = out.news();
  EXPECT_EQ(::poll(&news, 1, 0), 0);
  out.put("line\n");
  EXPECT_EQ(::poll(&news, 1, 0), 1);
  EXPECT_EQ(out.news().fd, -1);
  EXPECT_EQ(out.reader().events, POLLOUT);
  ASSERT_TRUE(write_what_fits(out));
  news = out.news();
  EXPECT_EQ(::poll(&news, 1, 0), 0);
}

TEST(outbox, notices_a_closed_reader_while_empty) {
  pipe_ends ends = narrow_pipe();
  outbox out(ends.write.get());
  EXPECT_TRUE(write_what_fits(out));
  ends.read.reset();
  EXPECT_FALSE(write_what_fits(out));
}

}  // namespace
}  // namespace holdfast::cli
