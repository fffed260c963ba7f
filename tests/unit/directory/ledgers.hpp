#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "directory/ledger.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {

using namespace std::chrono_literals;
using storage::share;

/// Sessions of one directory, and what each of them asks. One that is dropped is as good as killed.
class ledgers : public testing::Test {
 protected:
  struct client {
    explicit client(const folder& in) : alive(in), book(in, alive, gone) {}
    sessions alive;
    std::vector<session_id> gone;
    ledger book;
  };

  ledgers() {
    for (std::size_t n = 0; n < 4; ++n) open();
  }
  client& open() { return *clients_.emplace_back(std::make_unique<client>(folder_)); }
  ledger& at(std::size_t n) { return clients_[n]->book; }
  session_id session(std::size_t n) { return clients_[n]->alive.own(); }
  void kill(std::size_t n) { clients_[n].reset(); }

  static entry wanting(share s) {
    static std::uint64_t last = 0;
    entry e{.name = "a", .wants = s, .ttl = 1h};
    std::memcpy(e.owner.data(), &++last, sizeof last);
    return e;
  }
  static entry a_look(share s) {
    entry e = wanting(s);
    e.queue = false;
    return e;
  }
  ledger::found ask(std::size_t n, entry& e) {
    told_.clear();
    return at(n).acquire(e, soon(), told_);
  }
  bool gets(std::size_t n, entry& e) { return ask(n, e).ours; }
  bool gives_back(std::size_t n, const entry& e) {
    told_.clear();
    return at(n).release(e, soon(), told_);
  }
  std::vector<session_id> watched_by(std::size_t n, entry& e) {
    std::vector<session_id> those;
    for (const process& p : ask(n, e).ahead) those.push_back(p.session);
    return those;
  }
  /// Who was told, and whether it is in: else it has to look.
  using heard = std::vector<std::pair<owner_bytes, bool>>;
  heard told() const {
    heard all;
    for (const summons& s : told_) all.emplace_back(s.text.owner, s.text.fence != 0);
    return all;
  }
  std::int64_t rows() { return statement(look_.get(), "SELECT count(*) FROM place").row<std::int64_t>().value_or(-1); }
  static instant soon() { return boot_clock::now() + 10s; }

  test::temporary_folder there_;
  folder folder_{there_.file("locks")};
  std::deque<std::unique_ptr<client>> clients_;
  std::vector<summons> told_;
  writers one_writer_{folder_};
  const sessions onlooker_{folder_};
  database look_{folder_, one_writer_, onlooker_};
};

}  // namespace holdfast::directory
