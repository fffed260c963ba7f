#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "support/watched_store.hpp"

namespace holdfast::conformance {

/// One client's connection to the store, which the service can cut.
class connection final : public storage::backend {
 public:
  explicit connection(std::shared_ptr<test::watched_store> to) : to_(std::move(to)) {}
  std::unique_ptr<storage::claim> open(storage::claim_spec spec) override { return to_->open(std::move(spec)); }
  std::unique_ptr<storage::cell> open_cell(std::string name) override { return to_->open_cell(std::move(name)); }
  storage::admin& admin() noexcept override { return to_->admin(); }
  void start(storage::backend_events& events) override { to_->start(events); }
  void close() noexcept override { to_->close(); }
  [[nodiscard]] guarantees promises() const noexcept override { return to_->promises(); }

 private:
  const std::shared_ptr<test::watched_store> to_;
};

/// The open connections of a service.
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
