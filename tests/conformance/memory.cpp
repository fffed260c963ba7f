// "memory:" takes part in the suite.
#include "conformance/suite.hpp"
#include "memory/client.hpp"
#include "service.hpp"
#include "support/watched_store.hpp"

namespace holdfast::conformance {
namespace {

/// One client's connection, which the service keeps an eye on, so that it can cut it.
class connection final : public seam::backend {
 public:
  explicit connection(std::shared_ptr<test::watched_store> to) : to_(std::move(to)) {}
  std::unique_ptr<seam::claim> open(seam::claim_spec spec) override { return to_->open(std::move(spec)); }
  [[nodiscard]] guarantees promises() const noexcept override { return to_->promises(); }

 private:
  const std::shared_ptr<test::watched_store> to_;
};

class memory_service final : public service {
 public:
  store open(const open_options& options) override {
    connections_.push_back(std::make_shared<test::watched_store>(std::make_unique<memory::client>(server_)));
    return detail::service::open(
        "memory:", [&](runtime::loop&) { return std::make_unique<connection>(connections_.back()); }, options);
  }

  void fall_silent() override { server_->set_faults({.lose_requests = 1}); }
  void lose_replies() override { server_->set_faults({.lose_replies = 1}); }
  void cut_replies(int n) override {
    using call = test::watched_store::call;
    for (const auto& c : connections_) {
      for (const call what : {call::poll, call::renew, call::release}) c->cut(what, n);
    }
  }
  void lose_state() override { server_->forget_everything(); }
  void heal() override {
    server_->set_faults({});
    cut_replies(0);
  }
  std::size_t names_left() override { return server_->size(); }

 private:
  const std::shared_ptr<memory::server> server_ = std::make_shared<memory::server>();
  std::vector<std::shared_ptr<test::watched_store>> connections_;
};

const joined memory_store(
    "memory",
    {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false},
    {power::fall_silent, power::lose_replies, power::cut_replies, power::lose_state, power::list_names}, 300ms,
    [] { return std::make_unique<memory_service>(); });

}  // namespace
}  // namespace holdfast::conformance
