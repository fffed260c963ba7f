#include "holdfast/semaphore.hpp"

#include <atomic>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "api/check.hpp"
#include "api/service.hpp"
#include "runtime/guarded.hpp"

namespace holdfast {

namespace detail {

namespace {

constexpr boot_clock::time_point for_ever = boot_clock::time_point::max();

std::uint32_t checked_size(std::string_view name, std::ptrdiff_t permits) {
  if (permits >= 1 && permits <= semaphore::most) return static_cast<std::uint32_t>(permits);
  throw lock_error(errc::bad_option, name,
                   "a semaphore of " + std::to_string(permits) + "; it must have between 1 and " +
                       std::to_string(semaphore::most) + " permits");
}

}  // namespace

/// The permits that were acquired through one object.
class permits {
 public:
  permits(std::shared_ptr<service> s, std::string_view name, std::ptrdiff_t size, const lock_options& options)
      : service_(std::move(s)),
        name_((check_name(name), name)),
        on_(check_options_of_object(name, options)),
        size_(checked_size(name, size)) {
    check_fair(name, options);
  }

  [[nodiscard]] std::optional<lease> take(const limit& until, std::ptrdiff_t k) {
    const std::uint32_t whole = size_;
    if (k < 1 || k > static_cast<std::ptrdiff_t>(whole)) {
      throw lock_error(errc::bad_option, name_,
                       std::to_string(k) + " permits; it must be between 1 and " + std::to_string(whole));
    }
    core::terms on = on_;
    on.wants = storage::share::permits(static_cast<std::uint32_t>(k), whole);
    return service_->acquire(core::request(name_, std::move(on), until));
  }

  [[nodiscard]] bool acquire(const limit& until) {
    std::optional<lease> one = take(until, 1);
    if (!one) return false;
    held_.with([&](auto& all) { all.push_back(std::move(*one)); });
    return true;
  }

  void release(std::ptrdiff_t update) noexcept {
    if (service_->forked() || update <= 0) return;
    for (std::ptrdiff_t n = 0; n < update; ++n) {
      const std::optional<lease> oldest = held_.with([](std::deque<lease>& all) -> std::optional<lease> {
        if (all.empty()) return std::nullopt;
        std::optional<lease> first(std::move(all.front()));
        all.pop_front();
        return first;
      });
      if (!oldest) {
        service_->warn(name_, "more permits were released than acquired; nothing more was done");
        return;
      }
    }  // the lease is released here, not under the lock
  }

  void resize(std::ptrdiff_t size) {
    const std::uint32_t wanted = checked_size(name_, size);
    service_->resize(name_, wanted);
    size_ = wanted;
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  const std::shared_ptr<service> service_;
  const std::string name_;
  const core::terms on_;
  std::atomic<std::uint32_t> size_;
  runtime::guarded<std::deque<lease>> held_;
};

}  // namespace detail

semaphore::semaphore(const store& s, std::string_view name, std::ptrdiff_t permits, const lock_options& options)
    : permits_(std::make_unique<detail::permits>(detail::service::of(s), name, permits, options)) {}

semaphore::~semaphore() = default;

void semaphore::acquire() { (void)acquire_within(limit(detail::for_ever)); }

bool semaphore::try_acquire() { return acquire_within(within(std::chrono::seconds(0))); }

bool semaphore::acquire_within(const limit& until) { return permits_->acquire(until); }

void semaphore::release(std::ptrdiff_t update) noexcept { permits_->release(update); }

lease semaphore::take(std::ptrdiff_t k) { return std::move(*permits_->take(limit(detail::for_ever), k)); }

std::optional<lease> semaphore::try_take(const limit& until, std::ptrdiff_t k) { return permits_->take(until, k); }

void semaphore::resize(std::ptrdiff_t permits) { permits_->resize(permits); }

std::ptrdiff_t semaphore::size() const noexcept { return permits_->size(); }

}  // namespace holdfast
