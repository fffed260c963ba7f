// Redis takes part in the suite.
#include "api/service.hpp"
#include "conformance/redis_service.hpp"
#include "redis/lock/client.hpp"

namespace holdfast::conformance {
namespace {

class one_process final : public redis_service {
 public:
  store open(const open_options& options) override {
    const auto make = [&](runtime::loop& loop) { return clients_.add(redis::client::open(url(), loop)); };
    return detail::service::open(url(), make, options);
  }
};

const joined redis_store("redis", redis_service::promised,
                         {power::fall_silent, power::lose_replies, power::cut_replies, power::share, power::numbers,
                          power::oversee, power::lose_state, power::list_names},
                         1200ms, [] { return std::make_unique<one_process>(); });

}  // namespace
}  // namespace holdfast::conformance
