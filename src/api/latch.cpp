#include "holdfast/latch.hpp"

#include <string>
#include <utility>

#include "api/check.hpp"
#include "api/service.hpp"
#include "core/countdown.hpp"
#include "runtime/inline_io.hpp"

namespace holdfast {

namespace detail {

namespace {

using namespace std::chrono_literals;

core::countdown checked(std::string_view name, std::ptrdiff_t expected, const latch_options& options) {
  check_name(name);
  if (expected < 1) {
    throw lock_error(errc::bad_option, name, "a latch of " + std::to_string(expected) + "; it must be 1 at least");
  }
  if (options.ttl < 10ms || options.ttl > 24h * 365) {
    throw lock_error(
        errc::bad_option, name,
        "a ttl of " + std::to_string(options.ttl.count()) + " ms; a latch's must be between 10 ms and a year");
  }
  return {static_cast<std::uint64_t>(expected), options.ttl};
}

}  // namespace

/// The part of a latch that does not depend on the public header.
class counting {
 public:
  counting(std::shared_ptr<service> s, std::string_view name, std::ptrdiff_t expected, const latch_options& options)
      : service_(std::move(s)), what_(checked(name, expected, options)), name_(name) {}

  void count_down(std::ptrdiff_t n) const {
    if (n < 1) throw lock_error(errc::bad_option, name_, "to count down by " + std::to_string(n));
    core::reliable_cell cell = open();
    runtime::inline_io here;
    (void)known(run_inline(core::count_down(here, cell, what_, static_cast<std::uint64_t>(n))));
  }
  [[nodiscard]] bool wait(const limit& until) const {
    core::reliable_cell cell = open();
    runtime::inline_io here;
    return known(run_inline(core::wait_for_zero(here, cell, what_, until)));
  }

 private:
  [[nodiscard]] core::reliable_cell open() const { return service_->open_cell("latch/" + name_, name_); }
  [[nodiscard]] bool known(storage::answer<storage::done> end) const {
    if (end.is_unknown()) service_->fail(end.why(), name_);
    return end.is_yes();
  }

  const std::shared_ptr<service> service_;
  const core::countdown what_;
  const std::string name_;
};

}  // namespace detail

latch::latch(const store& s, std::string_view name, std::ptrdiff_t expected, const latch_options& options)
    : counting_(std::make_unique<detail::counting>(detail::service::of(s), name, expected, options)) {}

latch::~latch() = default;

void latch::count_down(std::ptrdiff_t n) { counting_->count_down(n); }

bool latch::try_wait() const { return counting_->wait(within(std::chrono::seconds(0))); }

void latch::wait() const { (void)counting_->wait(limit(runtime::never)); }

bool latch::wait(const limit& until) const { return counting_->wait(until); }

void latch::arrive_and_wait(std::ptrdiff_t n) {
  count_down(n);
  wait();
}

}  // namespace holdfast
