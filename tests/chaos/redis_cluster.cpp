// Three primaries with a replica each. Nodes are killed and stopped, replicas take over by command and by themselves,
// and slots move from one primary to another while their locks are held and waited for. A primary that restarts empty
// before it was replaced also empties its replica, and writes that were not replicated are lost.
#include "support/redis_cluster.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>

#include "chaos/locks.hpp"
#include "chaos/redis_faults.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/slots.hpp"
#include "support/eventually.hpp"

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

class sharded : public topology {
 public:
  std::string url(unsigned) const override { return cluster_.url("timeout=250ms&connect_timeout=500ms"); }
  promises promised() const override { return {.exclusion = false, .fences_grow = true}; }
  std::string naive_sockets() const override {
    std::string all;
    for (std::size_t n = 0; n < cluster_.size(); ++n) all.append(n == 0 ? "" : ",").append(cluster_.node(n).socket());
    return all;
  }

  std::vector<fault> faults() override {
    std::vector<fault> all = of_the_nodes();
    for (std::size_t n = 0; n < cluster_.size(); ++n) {
      for (fault& f : faults_of(cluster_.proxy(n), "line " + std::to_string(n))) all.push_back(std::move(f));
    }
    return all;
  }

  /// True if every slot has one primary and is not migrating, and each primary has its replica.
  void recover() override {
    const auto is_well = [this] {
      std::this_thread::sleep_for(20ms);
      for (const lock& each : locks) cluster_.forget_move(slot_of(each));
      return cluster_.is_ok();
    };
    if (!test::eventually(is_well)) throw std::runtime_error("the cluster does not recover: " + cluster_.views());
  }

  /// Only at the node that clients ask. A node may also have keys of a slot that it does not serve, if it took over
  /// from a primary before it knew of the migration, or a migration was interrupted. No client sees those.
  std::vector<std::string> leftovers() override {
    return at_each(cluster_.primaries(), [this](std::size_t n) {
      std::vector<std::string> keys = locks_at(cluster_.node(n));
      std::erase_if(keys, [&](const std::string& key) { return cluster_.owner_of(redis::slot_of(key)) != n; });
      return keys;
    });
  }

 private:
  std::vector<fault> of_the_nodes() {
    const std::string part = "nodes";  // one at a time
    return {
        {.name = "kill",
         .part = part,
         .begin = [this](choices& c) { one_of_them(c).kill(); },
         .end = [this] { start_again(*victim_); },
         .weight = 6,
         .longest = 4s},
        {.name = "standstill",
         .part = part,
         .begin = [this](choices& c) { one_of_them(c).stop(); },
         .end = [this] { victim_->go_on(); },
         .weight = 8,
         .longest = 4s},
        {.name = "drop",
         .part = part,
         .begin = [this](choices& c) { (void)one_of_them(c).ask({"CLIENT", "KILL", "TYPE", "normal"}); },
         .weight = 3},
        {.name = "failover", .part = part, .begin = [this](choices& c) { fail_over(c); }, .end = [] {}, .weight = 8},
        {.name = "move",
         .part = part,
         .begin = [this](choices& c) { begin_move(c); },
         .end = [this] { finish_move(); },
         .weight = 16},
    };
  }

  static std::uint16_t slot_of(const lock& l) { return redis::slot_of(redis::lock_key("holdfast:", l.name)); }

  test::redis_server& one_of_them(choices& c) {
    victim_ = &cluster_.node(c() % cluster_.size());
    return *victim_;
  }

  /// Makes a replica take over with CLUSTER FAILOVER, FORCE or TAKEOVER.
  void fail_over(choices& c) {
    std::vector<std::size_t> replicas;
    const std::vector<std::size_t> primaries = cluster_.primaries();
    for (std::size_t n = 0; n < cluster_.size(); ++n) {
      if (std::ranges::find(primaries, n) == primaries.end()) replicas.push_back(n);
    }
    if (replicas.empty()) return;
    std::vector<std::string> words = {"CLUSTER", "FAILOVER"};
    if (const std::size_t how = c() % 3; how != 0) words.push_back(how == 1 ? "FORCE" : "TAKEOVER");
    (void)cluster_.ask(replicas[c() % replicas.size()], words);  // refused if it has lost its primary
  }

  void begin_move(choices& c) {
    slot_ = slot_of(locks[c() % naive_lock]);
    const std::size_t keys = c() % 4;  // there are at most three
    try {
      const std::size_t from = cluster_.owner_of(slot_);
      to_ = c() % cluster_.size();
      to_ = destination(from);
      cluster_.begin_to_move(slot_, from, to_);
      if (keys != 0) cluster_.move_keys(slot_, from, to_, keys);
    } catch (const std::runtime_error&) {  // another node takes over just now; finish() completes it
    }
  }

  /// Primaries may have been replaced since the migration began.
  void finish_move() {
    std::string why;
    const auto is_moved = [&] {
      try {
        const std::size_t from = cluster_.owner_of(slot_);
        cluster_.move(slot_, from, destination(from));
        return true;
      } catch (const std::runtime_error& e) {
        why = e.what();
        cluster_.forget_move(slot_);
        return false;
      }
    };
    if (!test::eventually(is_moved)) {
      throw std::runtime_error("slot " + std::to_string(slot_) + " cannot be moved: " + why + cluster_.views());
    }
  }

  /// The primary to migrate to: the one that already has keys of the slot, if any, otherwise the chosen node if it is a
  /// primary.
  [[nodiscard]] std::size_t destination(std::size_t from) {
    std::vector<std::size_t> others = cluster_.primaries();
    std::erase(others, from);
    if (others.empty()) throw std::runtime_error("there is no other primary");
    const std::string slot = std::to_string(slot_);
    for (const std::size_t n : others) {
      if (cluster_.ask(n, {"CLUSTER", "COUNTKEYSINSLOT", slot}).number > 0) return n;
    }
    return std::ranges::find(others, to_) != others.end() ? to_ : others[to_ % others.size()];
  }

  mutable test::redis_cluster cluster_{{.replicas = 3, .proxies = true}};
  test::redis_server* victim_ = nullptr;
  std::uint16_t slot_ = 0;  // that is migrating
  std::size_t to_ = 0;
};

const registered mine{"redis_cluster", [] { return std::make_unique<sharded>(); }};

}  // namespace
}  // namespace holdfast::chaos
