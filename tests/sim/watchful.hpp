#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/asked.hpp"
#include "sim/world.hpp"
#include "storage/claim.hpp"

namespace holdfast::sim {

/// A store that watches how its claims are used: one call at a time and nothing after a release that was answered (I5),
/// no hammering (I9), and none is dropped that the store may know of (I10). Where nothing is wrong, polls are answered
/// (I7).
class watchful final : public storage::backend, private storage::admin, private storage::backend_events {
 public:
  watchful(world& w, storage::backend& inner) : world_(w), inner_(inner) {}

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::claim> open_all(std::vector<storage::claim_spec>) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events& events) override {
    events_ = &events;
    inner_.start(*this);
  }
  void close() noexcept override { inner_.close(); }
  [[nodiscard]] guarantees promises() const noexcept override { return inner_.promises(); }

  /// The owners of all open claims.
  [[nodiscard]] const std::set<std::pair<std::uint64_t, std::uint64_t>>& owners() const noexcept { return owners_; }
  /// The deadlines of claims that were granted and, as far as they know, neither lost nor released.
  [[nodiscard]] const std::map<std::pair<std::uint64_t, std::uint64_t>, storage::instant>& holders() const noexcept {
    return holders_;
  }
  /// The client drops nothing any more: its process has crashed, or it ends in order and leaves to the ttl what it
  /// cannot reach by now.
  bool over = false;
  bool quiet = false;  ///< there are no faults: every poll that has the time gets an answer
  std::function<void(const storage::owner_id&)> told_to_let_go = [](const storage::owner_id&) {};
  /// Called for every lock that was broken, with the id of that call.
  std::function<void(const storage::owner_id&)> broke = [](const storage::owner_id&) {};
  /// Called for every renewal request.
  std::function<void(const storage::owner_id&)> renews = [](const storage::owner_id&) {};
  /// Told of every grant, of several names of each.
  std::function<void(const storage::owner_id&, std::uint64_t fence)> granted = [](const storage::owner_id&,
                                                                                  std::uint64_t) {};
  /// Told of every yes and no.
  std::function<void(const storage::owner_id&, asked, bool yes)> heard = [](const storage::owner_id&, asked, bool) {};

 private:
  class place;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> resize(runtime::io& i, std::string name,
                                                                     std::uint32_t whole, limit l) override {
    return inner_.admin().resize(i, std::move(name), whole, std::move(l));
  }
  [[nodiscard]] runtime::task<storage::answer<storage::done>> revoke(runtime::io& i, std::string name,
                                                                     std::string reason, std::uint64_t fence,
                                                                     limit l) override {
    return inner_.admin().revoke(i, std::move(name), std::move(reason), fence, std::move(l));
  }
  [[nodiscard]] runtime::task<storage::answer<storage::done>> break_lock(runtime::io& i, storage::break_request what,
                                                                         limit l) override {
    const storage::owner_id id = what.id;
    storage::answer<storage::done> got = co_await inner_.admin().break_lock(i, std::move(what), std::move(l));
    if (got.is_yes()) broke(id);
    co_return got;
  }
  void in_doubt(storage::shard on) noexcept override { events_->in_doubt(on); }
  void back() noexcept override { events_->back(); }
  void revoke_requested(storage::revoke_request what) noexcept override {
    told_to_let_go(what.owner);
    events_->revoke_requested(std::move(what));
  }

  world& world_;
  storage::backend& inner_;
  storage::backend_events* events_ = nullptr;
  std::set<std::pair<std::uint64_t, std::uint64_t>> owners_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, storage::instant> holders_;
};

}  // namespace holdfast::sim
