#include "redis/sentinel_watch.hpp"

#include <algorithm>
#include <utility>

#include "runtime/blocking.hpp"
#include "store/answer.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::later;
using runtime::task;
using runtime::wake;

namespace {

constexpr milliseconds between_questions = 1s;
constexpr milliseconds longest_pause = 1s;

}  // namespace

void sentinel_watch::start() {
  loop_.start();
  tasks_.spawn(run());
}

void sentinel_watch::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
}

task<void> sentinel_watch::run() {
  for (milliseconds pause{0};;) {
    const auto dialling = [this] { return dial(); };
    std::unique_ptr<connection> made = co_await runtime::blocking(loop_, dialling);
    pause = made ? 20ms : std::min(longest_pause, pause * 2 + 20ms);
    if (made) co_await listen(std::move(made));
    const wake why = co_await sleep(loop_, limit(later(loop_.now(), pause), ending_.get_token()));
    if (why == wake::stopped) co_return;
  }
}

/// On the worker. Nothing: none of them lets us.
std::unique_ptr<connection> sentinel_watch::dial() const noexcept {
  try {
    return sentinels_.subscribe(limit(later(boot_clock::now(), connect_timeout_), ending_.get_token()));
  } catch (const std::exception&) {
    return nullptr;
  } catch (const seam::failure&) {  // whoever dials the primary meets it, too, and says so
    return nullptr;
  }
}

/// Until it breaks, or gives no answer.
task<void> sentinel_watch::listen(std::unique_ptr<connection> made) {
  connection_ = std::move(made);
  answer_due_ = false;
  for (bool good = begin(); good;) {
    const wake why = co_await wait(loop_, broken_, limit(later(loop_.now(), between_questions), ending_.get_token()));
    good = why == wake::late && !answer_due_ && ask();
  }
  loop_.unwatch(connection_->fd());
  connection_.reset();
}

bool sentinel_watch::begin() noexcept {
  try {
    loop_.watch(connection_->fd(), [this] { on_ready(); });
  } catch (const std::exception&) {
    return false;
  }
  return ask();
}

bool sentinel_watch::ask() noexcept {
  try {
    std::string bytes = sentinels_.question().bytes();
    answer_due_ = true;
    return connection_->send(bytes);
  } catch (const std::exception&) {
    return false;
  }
}

void sentinel_watch::on_ready() noexcept {
  try {
    (void)connection_->receive();
    while (const std::optional<value> v = connection_->next()) {
      if (sentinels_.hear(*v)) answer_due_ = false;
    }
  } catch (const std::exception&) {
    broken_.set();
  }
}

}  // namespace holdfast::redis
