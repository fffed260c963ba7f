#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "directory/lock_table.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {

using namespace std::chrono_literals;
using storage::share;

/// Clients of one directory. Destroying one without leave() is like killing its process.
class lock_tables : public testing::Test {
 protected:
  struct client {
    explicit client(const folder& in) : alive(in), table(in, alive, ended) {}
    sessions alive;
    std::vector<session_id> ended;
    lock_table table;
  };

  lock_tables() {
    for (std::size_t n = 0; n < 4; ++n) open();
  }
  client& open() { return *clients_.emplace_back(std::make_unique<client>(folder_)); }
  lock_table& at(std::size_t n) { return clients_[n]->table; }
  session_id session(std::size_t n) { return clients_[n]->alive.own(); }
  void kill(std::size_t n) { clients_[n].reset(); }

  static entry claim_of(share s) {
    static std::uint64_t last = 0;
    entry e{.name = "a", .wants = s, .ttl = 1h};
    std::memcpy(e.owner.data(), &++last, sizeof last);
    return e;
  }
  static entry one_poll_of(share s) {
    entry e = claim_of(s);
    e.queue = false;
    return e;
  }
  lock_table::poll_result poll(std::size_t n, entry& e) {
    notifications_.clear();
    return at(n).poll(e, soon(), notifications_);
  }
  bool gets(std::size_t n, entry& e) { return poll(n, e).ours; }
  bool releases(std::size_t n, const entry& e) {
    notifications_.clear();
    return at(n).release(e, soon(), notifications_);
  }
  std::vector<session_id> watched_by(std::size_t n, entry& e) {
    std::vector<session_id> sessions;
    for (const process& p : poll(n, e).ahead) sessions.push_back(p.session);
    return sessions;
  }
  /// The receivers of the messages, and whether each holds the lock now; otherwise it has to poll.
  using messages = std::vector<std::pair<owner_bytes, bool>>;
  messages sent() const {
    messages all;
    for (const notification& s : notifications_) all.emplace_back(s.text.owner, s.text.fence != 0);
    return all;
  }
  std::int64_t rows() {
    return statement(reader_.get(), "SELECT count(*) FROM place").row<std::int64_t>().value_or(-1);
  }
  static instant soon() { return boot_clock::now() + 10s; }

  test::temporary_folder there_;
  folder folder_{there_.file("locks")};
  std::deque<std::unique_ptr<client>> clients_;
  std::vector<notification> notifications_;
  writer_lock one_writer_{folder_};
  const sessions no_session_{folder_};
  database reader_{folder_, one_writer_, no_session_};
};

}  // namespace holdfast::directory
