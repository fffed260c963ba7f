#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"
#include "support/forwarding_admin.hpp"

namespace holdfast::test {

/// Decorates a store: counts calls, and delays or loses replies like a network. The store behind carries out every
/// request; to lose requests, use its faults.
class watched_store final : public storage::backend {
 public:
  enum class call { poll, renew, downgrade, release, put, break_lock };

  explicit watched_store(std::unique_ptr<storage::backend> behind) : behind_(std::move(behind)) {}

  /// From now on replies wait for deliver(). A reply that is not delivered before the caller's limit becomes unknown.
  void hold_back(call c) { set(c, treatment::held_back, nullptr); }
  void hold_back(call c, const std::string& only_of) {
    set(c, treatment::held_back, [only_of](const std::string& name) { return name == only_of; });
  }
  void hold_back(call c, storage::shard only_there) {
    set(c, treatment::held_back, [this, only_there](const std::string& name) { return shard_of_(name) == only_there; });
  }
  /// Holds replies back even beyond the caller's limit, so that they come late.
  void hold_back_beyond_the_limit(call c) { set(c, treatment::held_back_beyond_the_limit, nullptr); }
  /// Delivers all replies that are held back, and holds back no more.
  void deliver() {
    shared_.with([](shared& s) {
      s.treatments = {};
      for (runtime::signal* reply : s.held_back) reply->set();
      s.held_back.clear();
    });
  }
  /// Holds back no more. Replies that are held back already are never delivered.
  void pass_on_from_now() {
    shared_.with([](shared& s) { s.treatments = {}; });
  }
  /// Loses the next n replies, which the caller learns at once, as when a connection breaks.
  void cut(call c, int n = 1) {
    shared_.with([&](shared& s) { s.cuts[index(c)] = n; });
  }

  /// Makes grants this short, like those that a store makes on behalf of a waiter.
  void grant_for(runtime::span only) {
    shared_.with([&](shared& s) { s.granted_for = only; });
  }

  /// Reports that the store is reachable again.
  void come_back() const { events_->back(); }

  /// Sets the shard of each name. Not while a call is under way.
  void spread(std::function<storage::shard(const std::string& name)> where) { shard_of_ = std::move(where); }

  /// Lets the next open() run out of memory.
  void fail_next_open() {
    shared_.with([](shared& s) { s.failing_opens = 1; });
  }

  [[nodiscard]] int count(call c) const {
    return shared_.with(
        [&](const shared& s) { return static_cast<int>(std::count(s.calls.begin(), s.calls.end(), c)); });
  }
  [[nodiscard]] std::vector<call> calls() const {
    return shared_.with([](const shared& s) { return s.calls; });
  }
  /// The ttl of each renewal.
  [[nodiscard]] std::vector<storage::milliseconds> renewed_for() const {
    return shared_.with([](const shared& s) { return s.renewed_for; });
  }
  /// Replies that are held back now.
  [[nodiscard]] std::size_t held_back() const {
    return shared_.with([](const shared& s) { return s.held_back.size(); });
  }

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec spec) override {
    if (shared_.with([](shared& s) { return s.failing_opens > 0 && s.failing_opens-- > 0; })) throw std::bad_alloc();
    const std::string name = spec.name;
    return std::make_unique<watched_claim>(*this, name, behind_->open(std::move(spec)));
  }
  std::unique_ptr<storage::cell> open_cell(std::string name) override {
    return std::make_unique<watched_cell>(*this, name, behind_->open_cell(name));
  }
  storage::admin& admin() noexcept override { return admin_; }
  void start(storage::backend_events& events) override {
    events_ = &events;
    behind_->start(events);
  }
  void close() noexcept override { behind_->close(); }
  [[nodiscard]] guarantees promises() const noexcept override { return behind_->promises(); }

 private:
  enum class treatment { none, held_back, held_back_beyond_the_limit };
  struct shared {
    std::vector<call> calls;
    std::vector<storage::milliseconds> renewed_for;
    std::array<treatment, 6> treatments{};
    std::array<int, 6> cuts{};
    std::function<bool(const std::string& name)> only_of;  // null: replies for every name
    int failing_opens = 0;
    std::optional<runtime::span> granted_for;
    std::vector<runtime::signal*> held_back;
  };
  static std::size_t index(call c) { return static_cast<std::size_t>(c); }
  void set(call c, treatment t, std::function<bool(const std::string&)> only_of) {
    shared_.with([&](shared& s) {
      s.treatments[index(c)] = t;
      s.only_of = std::move(only_of);
    });
  }

  template <class T>
  runtime::task<storage::answer<T>> carry(runtime::io& i, std::string name, call c, limit l,
                                          runtime::task<storage::answer<T>> request) {
    shared_.with([&](shared& s) { s.calls.push_back(c); });
    storage::answer<T> reply = co_await request;
    runtime::signal delivered;
    bool lost = false;
    const treatment how = shared_.with([&](shared& s) {
      lost = s.cuts[index(c)] > 0 && s.cuts[index(c)]-- > 0;
      if (s.treatments[index(c)] == treatment::none || (s.only_of && !s.only_of(name))) return treatment::none;
      s.held_back.push_back(&delivered);
      return s.treatments[index(c)];
    });
    if (how != treatment::none) {
      const limit patient(how == treatment::held_back ? l.at() : runtime::never, l.stop());
      const runtime::wake why = co_await wait(i, delivered, patient);
      shared_.with([&](shared& s) { std::erase(s.held_back, &delivered); });
      if (why != runtime::wake::signalled) co_return storage::answer<T>::unknown(storage::failure::late("no reply"));
    }
    if (lost) co_return storage::answer<T>::unknown(storage::failure(errc::unreachable, "the reply was lost"));
    co_return reply;
  }

  class watched_claim final : public storage::claim {
   public:
    watched_claim(watched_store& s, std::string name, std::unique_ptr<storage::claim> behind)
        : store_(s), name_(std::move(name)), behind_(std::move(behind)) {}
    runtime::task<storage::answer<storage::grant>> poll(runtime::io& i, limit l) override {
      storage::answer<storage::grant> reply = co_await store_.carry(i, name_, call::poll, l, behind_->poll(i, l));
      const auto only = store_.shared_.with([](const shared& s) { return s.granted_for; });
      if (only && reply.is_yes()) reply.value().deadline = i.now() + *only;
      co_return reply;
    }
    runtime::task<runtime::wake> wakeup(runtime::io& i, limit l) override { return behind_->wakeup(i, std::move(l)); }
    runtime::task<storage::answer<runtime::instant>> renew(runtime::io& i, storage::milliseconds ttl,
                                                           limit l) override {
      store_.shared_.with([&](shared& s) { s.renewed_for.push_back(ttl); });
      return store_.carry(i, name_, call::renew, l, behind_->renew(i, ttl, l));
    }
    runtime::task<storage::answer<runtime::instant>> downgrade(runtime::io& i, std::uint64_t fence,
                                                               storage::milliseconds ttl, limit l) override {
      return store_.carry(i, name_, call::downgrade, l, behind_->downgrade(i, fence, ttl, l));
    }
    runtime::task<storage::answer<storage::done>> release(runtime::io& i, limit l) override {
      return store_.carry(i, name_, call::release, l, behind_->release(i, l));
    }
    [[nodiscard]] storage::shard lies_on() const noexcept override {
      return store_.shard_of_ ? store_.shard_of_(name_) : behind_->lies_on();
    }
    [[nodiscard]] std::size_t margin() const noexcept override { return behind_->margin(); }
    [[nodiscard]] bool has_parts() const noexcept override { return behind_->has_parts(); }

   private:
    watched_store& store_;
    const std::string name_;
    const std::unique_ptr<storage::claim> behind_;
  };

  class watched_cell final : public storage::cell {
   public:
    watched_cell(watched_store& s, std::string name, std::unique_ptr<storage::cell> behind)
        : store_(s), name_(std::move(name)), behind_(std::move(behind)) {}
    runtime::task<storage::answer<storage::reading>> get(runtime::io& i, limit l) override {
      return behind_->get(i, std::move(l));
    }
    runtime::task<storage::answer<std::uint64_t>> put(runtime::io& i, std::uint64_t seen, storage::change wanted,
                                                      limit l) override {
      return store_.carry(i, name_, call::put, l, behind_->put(i, seen, std::move(wanted), l));
    }
    runtime::task<runtime::wake> changed(runtime::io& i, storage::reading seen, limit l) override {
      return behind_->changed(i, std::move(seen), std::move(l));
    }

   private:
    watched_store& store_;
    const std::string name_;
    const std::unique_ptr<storage::cell> behind_;
  };

  class watched_admin final : public forwarding_admin {
   public:
    watched_admin(watched_store& s, storage::backend& behind) : forwarding_admin(behind), store_(s) {}
    runtime::task<storage::answer<storage::done>> break_lock(runtime::io& i, storage::break_request what,
                                                             limit l) override {
      const std::string name = what.name;
      return store_.carry(i, name, call::break_lock, l, forwarding_admin::break_lock(i, std::move(what), l));
    }

   private:
    watched_store& store_;
  };

  const std::unique_ptr<storage::backend> behind_;
  storage::backend_events* events_ = nullptr;
  watched_admin admin_{*this, *behind_};
  std::function<storage::shard(const std::string&)> shard_of_;  // null: as the store behind says
  runtime::guarded<shared> shared_;
};

}  // namespace holdfast::test
