// "dir:" takes part in the suite, with every client in a process of its own.
#include <sqlite3.h>

#include "api/service.hpp"
#include "conformance/connection.hpp"
#include "conformance/process_client.hpp"
#include "conformance/suite.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::conformance {
namespace {

constexpr guarantees directory_promises{
    .by = guarantees::exclusion::kernel, .fair = true, .survives_restart = true, .notices_death_at_once = true};

class directory_service final : public service {
 public:
  store open(const open_options& options) override {
    const auto make = [&](runtime::loop&) {
      auto far = std::make_unique<process_client>("dir:" + folder_.file("locks"), directory_promises, weather_);
      newest_ = far.get();
      return clients_.add(std::move(far));
    };
    return detail::service::open("dir:" + folder_.file("locks"), make, options);
  }

  void fall_silent() override { weather_->lose_requests = true; }
  void lose_replies() override { weather_->lose_replies = true; }
  void heal() override {
    weather_->lose_requests = weather_->lose_replies = false;
    cut_replies(0);
  }
  void cut_replies(int n) override { clients_.cut_replies(n); }
  void kill_newest() override { newest_->kill(); }
  void stop_newest() override { newest_->stop(); }
  void continue_newest() override { newest_->go_on(); }

  std::size_t names_left() override {
    sqlite3* database = nullptr;
    sqlite3_stmt* asked = nullptr;
    std::size_t names = 0;
    sqlite3_open_v2(folder_.file("locks/locks.db").c_str(), &database, SQLITE_OPEN_READWRITE, nullptr);
    sqlite3_busy_timeout(database, 10'000);
    sqlite3_prepare_v2(database, "SELECT count(DISTINCT name) FROM place", -1, &asked, nullptr);
    if (sqlite3_step(asked) == SQLITE_ROW) names = static_cast<std::size_t>(sqlite3_column_int64(asked, 0));
    sqlite3_finalize(asked);
    sqlite3_close(database);
    return names;
  }

 private:
  test::temporary_folder folder_;
  connections clients_;
  const std::shared_ptr<process_client::weather> weather_ = std::make_shared<process_client::weather>();
  process_client* newest_ = nullptr;
};

const joined directory_store("dir", directory_promises,
                             {power::fall_silent, power::lose_replies, power::cut_replies, power::list_names,
                              power::end_clients, power::stop_clients, power::share, power::numbers, power::oversee},
                             1200ms, [] { return std::make_unique<directory_service>(); });

}  // namespace
}  // namespace holdfast::conformance
