#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "support/watched_store.hpp"

namespace holdfast::conformance {

/// One client's way to the store, which the service keeps an eye on, so that it can cut it.
class connection final : public storage::backend {
 public:
  explicit connection(std::shared_ptr<test::watched_store> to) : to_(std::move(to)) {}
  std::unique_ptr<storage::claim> open(storage::claim_spec spec) override { return to_->open(std::move(spec)); }
  runtime::task<storage::answer<storage::done>> resize(runtime::io& i, std::string name, std::uint32_t n,
                                                       limit l) override {
    return to_->resize(i, std::move(name), n, std::move(l));
  }
  std::unique_ptr<storage::cell> open_cell(std::string name) override { return to_->open_cell(std::move(name)); }
  runtime::task<storage::answer<state>> inspect(runtime::io& i, std::string name, limit l) override {
    return to_->inspect(i, std::move(name), std::move(l));
  }
  runtime::task<storage::answer<storage::done>> revoke(runtime::io& i, std::string name, std::string reason,
                                                       std::uint64_t fence, limit l) override {
    return to_->revoke(i, std::move(name), std::move(reason), fence, std::move(l));
  }
  runtime::task<storage::answer<listing>> list(runtime::io& i, std::string prefix, std::string after, std::size_t most,
                                               limit l) override {
    return to_->list(i, std::move(prefix), std::move(after), most, std::move(l));
  }
  runtime::task<storage::answer<storage::done>> break_lock(runtime::io& i, storage::breaking what, limit l) override {
    return to_->break_lock(i, std::move(what), std::move(l));
  }
  void when_asked(std::function<void(storage::asking)> asked) override { to_->when_asked(std::move(asked)); }
  void when_in_doubt(std::function<void(storage::shard)> verify) override { to_->when_in_doubt(std::move(verify)); }
  void when_back(std::function<void()> back) override { to_->when_back(std::move(back)); }
  void close() noexcept override { to_->close(); }
  [[nodiscard]] guarantees promises() const noexcept override { return to_->promises(); }

 private:
  const std::shared_ptr<test::watched_store> to_;
};

/// Those that are open.
class connections {
 public:
  [[nodiscard]] std::unique_ptr<storage::backend> add(std::unique_ptr<storage::backend> behind) {
    auto watched = std::make_shared<test::watched_store>(std::move(behind));
    all_.push_back(watched);
    return std::make_unique<connection>(std::move(watched));
  }
  void cut_replies(int n) const {
    using call = test::watched_store::call;
    for (const auto& c : all_) {
      const std::shared_ptr<test::watched_store> still_there = c.lock();
      if (!still_there) continue;
      for (const call what : {call::poll, call::renew, call::downgrade, call::release, call::put, call::break_lock})
        still_there->cut(what, n);
    }
  }

 private:
  std::vector<std::weak_ptr<test::watched_store>> all_;
};

}  // namespace holdfast::conformance
