#include "redis/sentinel/promotion_watch.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "net/ready.hpp"
#include "runtime/blocking.hpp"
#include "runtime/inline_io.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::later;
using runtime::task;

namespace {

constexpr milliseconds long_enough = 3s;  // a promotion takes a tenth of a second
constexpr milliseconds between_questions = 50ms;
constexpr milliseconds between_connections = 20ms;

limit nearer(const limit& l, milliseconds by) {
  return limit(std::min(l.at(), later(boot_clock::now(), by)), l.stop());
}

bool is_over(const limit& l) { return boot_clock::now() >= l.at() || l.stop().stop_requested(); }

}  // namespace

void promotion_watch::begin(net::endpoint chosen, std::int64_t epoch) {
  given_up_.request_stop();
  given_up_ = std::stop_source();
  tasks_.spawn(follow(std::move(chosen), epoch, limit(later(loop_.now(), long_enough), given_up_.get_token())));
}

void promotion_watch::close() noexcept {
  given_up_.request_stop();
  tasks_.wait_until_empty();
}

task<void> promotion_watch::follow(net::endpoint chosen, std::int64_t epoch, limit l) {
  const auto look = [&] { return becomes_primary(chosen, l); };
  const bool leads = co_await runtime::blocking(loop_, look, &looks_);
  if (leads) sentinels_.promoted(std::move(chosen), epoch);
}

/// A server that becomes a primary closes all its connections, so it is asked on a new one.
bool promotion_watch::becomes_primary(const net::endpoint& chosen, const limit& l) const noexcept {
  runtime::signal nothing;
  while (!is_over(l)) {
    try {
      wait_until_primary(chosen, l);
      return true;
    } catch (const std::exception&) {  // a caller that needs a connection sees and reports the same
    }
    (void)runtime::wait_here(nothing, nearer(l, between_connections));
  }
  return false;
}

void promotion_watch::wait_until_primary(const net::endpoint& chosen, const limit& l) const {
  const std::unique_ptr<connection> to = dialer_.open_at(chosen, l);
  while (!dialer_.is_primary(*to, l)) (void)net::wait_readable(to->fd(), nearer(l, between_questions));
}

}  // namespace holdfast::redis
