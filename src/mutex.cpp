#include "holdfast/mutex.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/hold.hpp"
#include "runtime/guarded.hpp"
#include "service.hpp"

namespace holdfast {

namespace detail {

/// Unlike std::thread::id, never used again for another thread.
std::uint64_t this_thread() noexcept {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t mine = ++last;
  return mine;
}

/// Who holds the lock through one object: a seat for each thread, with its lease.
class seats {
  struct seat {
    seat(std::uint64_t who_, lease held_) noexcept : who(who_), held(std::move(held_)) {}
    std::uint64_t who;
    lease held;
  };

  template <class Seats>
  static auto mine_in(Seats& all) {
    auto at = all.begin();
    while (at != all.end() && (*at)->who != this_thread()) ++at;
    return at;
  }

 public:
  seats(std::shared_ptr<service> s, std::string_view name, const lock_options& options)
      : service_(std::move(s)), name_(name), on_(check_options(name, options)) {}

  [[nodiscard]] bool seated() const {
    return all_.with([](const auto& all) { return mine_in(all) != all.end(); });
  }

  void refuse_second() const {
    service_->check_not_forked(name_);
    if (seated()) throw lock_error(errc::would_deadlock, name_, "[" + service_->url() + "]");
  }

  [[nodiscard]] bool acquire(const limit& until) {
    std::optional<lease> got = service_->acquire(name_, on_, until);
    if (!got) return false;
    auto mine = std::make_unique<seat>(this_thread(), std::move(*got));
    all_.with([&](auto& all) { all.push_back(std::move(mine)); });
    return true;
  }

  void leave() noexcept {
    if (service_->forked()) return;
    const std::unique_ptr<seat> mine = all_.with([](auto& all) -> std::unique_ptr<seat> {
      if (all.empty()) return nullptr;
      auto at = mine_in(all);
      if (at == all.end()) at = all.begin();  // the oldest
      std::unique_ptr<seat> left = std::move(*at);
      all.erase(at);
      return left;
    });
  }  // released here, not under the lock

  [[nodiscard]] const lease& current() const {
    service_->check_not_forked(name_);
    const lease* mine = all_.with([](const auto& all) {
      const auto at = mine_in(all);
      return at == all.end() ? nullptr : &(*at)->held;
    });
    if (mine == nullptr) throw lock_error(errc::lost, name_, "this thread holds nothing here");
    return *mine;
  }

  [[nodiscard]] bool forked() const noexcept { return service_->forked(); }

 private:
  const std::shared_ptr<service> service_;
  const std::string name_;
  const core::terms on_;
  runtime::guarded<std::vector<std::unique_ptr<seat>>> all_;
};

}  // namespace detail

mutex::mutex(const store& s, std::string_view name, const lock_options& options) {
  detail::check_name(name);
  seats_ = std::make_unique<detail::seats>(detail::service::of(s), name, options);
}

mutex::~mutex() = default;

void mutex::lock() { (void)lock_within(limit(boot_clock::time_point::max())); }

bool mutex::lock(const std::stop_token& stop) { return lock_within(until(stop)); }

bool mutex::try_lock() {
  if (!seats_->forked() && seats_->seated()) return false;
  return seats_->acquire(within(std::chrono::seconds(0)));
}

bool mutex::lock_within(const limit& until) {
  seats_->refuse_second();
  return seats_->acquire(until);
}

void mutex::unlock() noexcept { seats_->leave(); }

const lease& mutex::current() const { return seats_->current(); }

}  // namespace holdfast
