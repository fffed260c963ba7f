// Runs the suite against Redis as the user with least privilege that docs/stores/redis.md recommends.
#include "api/service.hpp"
#include "conformance/redis_service.hpp"
#include "redis/lock/client.hpp"
#include "support/acl_in_the_document.hpp"

namespace holdfast::conformance {
namespace {

class least_privilege final : public redis_service {
 public:
  least_privilege() {
    const redis::value done = server_.ask(test::acl_in_the_document("redis-cli ACL SETUSER holdfast on"));
    EXPECT_EQ(done.text, "OK");
  }
  ~least_privilege() override {
    const redis::value log = server_.ask({"ACL", "LOG"});
    EXPECT_TRUE(log.items.empty()) << "the server refused a command";
  }
  store open(const open_options& options) override {
    const std::string secret = url("holdfast:a%20secret@");
    const auto make = [&](runtime::loop& loop) { return clients_.add(redis::client::open(secret, loop)); };
    return detail::service::open(url(), make, options);
  }
};

const joined least_privilege_store("redis_least_privilege", redis_service::promised,
                                   {power::fall_silent, power::lose_replies, power::cut_replies, power::share,
                                    power::numbers, power::oversee, power::lose_state, power::list_names},
                                   1200ms, [] { return std::make_unique<least_privilege>(); });

}  // namespace
}  // namespace holdfast::conformance
