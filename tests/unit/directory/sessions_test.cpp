#include "directory/sessions.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "directory/lock_table.hpp"
#include "runtime/inline_io.hpp"
#include "support/bounds.hpp"
#include "support/child.hpp"
#include "support/eventually.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {
namespace {

/// A child process with a session.
class session_process {
 public:
  session_process(const std::string& path, session_id id)
      : id_(id), child_([&] {
          const folder in(path);
          sessions mine(in);
          HOLDFAST_SHOULD(mine.begin(id));
          const pid_t pid = ::getpid();
          HOLDFAST_SHOULD(::write(pipe_.in, &pid, sizeof pid) == sizeof pid);
          ::pause();
          return true;
        }) {
    EXPECT_EQ(::read(pipe_.out, &pid_, sizeof pid_), static_cast<ssize_t>(sizeof pid_));
  }
  [[nodiscard]] process as_stored() const { return {id_, pid_, own_pid_namespace()}; }
  void kill() {
    child_.kill();
    EXPECT_FALSE(child_.ends_well());
  }

 private:
  struct both_ends {
    both_ends() {
      int ends[2];
      EXPECT_EQ(::pipe(ends), 0);
      out = ends[0];
      in = ends[1];
    }
    ~both_ends() {
      ::close(out);
      ::close(in);
    }
    int out = -1, in = -1;
  };
  const session_id id_;
  both_ends pipe_;
  pid_t pid_ = 0;
  test::child child_;
};

class pidfd_watches : public testing::Test {
 protected:
  test::temporary_folder there_;
  const folder folder_{there_.file("locks")};
  sessions alive_{folder_};
  session_process one_{there_.file("locks"), 7}, other_{there_.file("locks"), 8};
  runtime::loop loop_;  // after the forks: it has a thread
  runtime::signal called_;
  const std::int64_t here_ = own_pid_namespace();

  bool is_called() { return runtime::wait_here(called_, within(test::hang)) == runtime::wake::signalled; }
};

TEST_F(pidfd_watches, signal_when_any_of_the_processes_has_ended) {
  loop_.start();
  const pidfd_watch watch(loop_, alive_, here_, {one_.as_stored(), other_.as_stored()}, called_);
  EXPECT_TRUE(watch.watches_all());
  other_.kill();
  EXPECT_TRUE(is_called());
  one_.kill();
  EXPECT_TRUE(is_called());
}

TEST_F(pidfd_watches, signal_at_once_when_a_process_has_ended_already) {
  const process dead = one_.as_stored();
  one_.kill();
  const pidfd_watch watch(loop_, alive_, here_, {other_.as_stored(), dead}, called_);
  EXPECT_TRUE(is_called());
  other_.kill();
}

TEST_F(pidfd_watches, poll_processes_that_cannot_be_watched) {
  process elsewhere = one_.as_stored();
  elsewhere.pid_namespace = here_ + 1;
  const pidfd_watch watch(loop_, alive_, here_, {other_.as_stored(), elsewhere}, called_);
  EXPECT_FALSE(watch.watches_all());
  EXPECT_FALSE(watch.any_unwatched_ended());
  one_.kill();
  EXPECT_TRUE(test::eventually([&] { return watch.any_unwatched_ended(); }));
  other_.kill();
}

TEST_F(pidfd_watches, skip_the_calling_process) {
  EXPECT_TRUE(alive_.begin(1));
  const pidfd_watch watch(loop_, alive_, here_, {process{.session = 1}}, called_);
  EXPECT_TRUE(watch.watches_all());
  one_.kill();
  other_.kill();
}

}  // namespace
}  // namespace holdfast::directory
