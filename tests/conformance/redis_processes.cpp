// Redis takes part in the suite, with every client in a process of its own, which can be killed and stopped.
#include "api/service.hpp"
#include "conformance/process_client.hpp"
#include "conformance/redis_service.hpp"

namespace holdfast::conformance {
namespace {

class many_processes final : public redis_service {
 public:
  store open(const open_options& options) override {
    const auto make = [&](runtime::loop&) {
      auto far = std::make_unique<process_client>(url(), promised, std::make_shared<process_client::weather>());
      newest_ = far.get();
      return clients_.add(std::move(far));
    };
    return detail::service::open(url(), make, options);
  }
  void kill_newest() override { newest_->kill(); }
  void stop_newest() override { newest_->stop(); }
  void continue_newest() override { newest_->go_on(); }

 private:
  process_client* newest_ = nullptr;
};

const joined redis_processes_store("redis_processes", redis_service::promised,
                                   {power::cut_replies, power::share, power::numbers, power::oversee, power::lose_state,
                                    power::list_names, power::end_clients, power::stop_clients},
                                   1200ms, [] { return std::make_unique<many_processes>(); });

}  // namespace
}  // namespace holdfast::conformance
