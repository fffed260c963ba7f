// "memory:" takes part in the suite.
#include "api/service.hpp"
#include "conformance/connection.hpp"
#include "conformance/suite.hpp"
#include "memory/client.hpp"

namespace holdfast::conformance {
namespace {

class memory_service final : public service {
 public:
  store open(const open_options& options) override {
    return detail::service::open(
        "memory:", [&](runtime::loop&) { return clients_.add(std::make_unique<memory::client>(server_)); }, options);
  }

  void fall_silent() override { server_->set_faults({.lose_requests = 1}); }
  void lose_replies() override { server_->set_faults({.lose_replies = 1}); }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void lose_state() override { server_->forget_everything(); }
  void heal() override {
    server_->set_faults({});
    cut_replies(0);
  }
  std::size_t names_left() override { return server_->size(); }

 private:
  const std::shared_ptr<memory::server> server_ = std::make_shared<memory::server>();
  connections clients_;
};

const joined memory_store(
    "memory",
    {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false},
    {power::fall_silent, power::lose_replies, power::cut_replies, power::lose_state, power::list_names, power::share,
     power::numbers, power::oversee},
    600ms, [] { return std::make_unique<memory_service>(); });

}  // namespace
}  // namespace holdfast::conformance
