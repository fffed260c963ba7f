#include "redis/sentinel/sentinel_watch.hpp"

#include <algorithm>
#include <utility>

#include "runtime/blocking.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

using namespace std::chrono_literals;
using runtime::later;
using runtime::task;
using runtime::wake;

namespace {

constexpr milliseconds longest_sentinel_pause = 1s;

}  // namespace

sentinel_watch::sentinel_watch(const dialer& d, runtime::loop& loop, listener& who)
    : dialer_(d), sentinels_(*d.asks()), loop_(loop), listener_(who), promotion_(d, sentinels_, loop) {
  for (std::size_t n = 0; n < sentinels_.count(); ++n) subscriptions_.emplace_back(n);
}

void sentinel_watch::start() {
  loop_.start();
  for (subscription& each : subscriptions_) tasks_.spawn(run(each));
}

void sentinel_watch::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
  promotion_.close();
}

task<void> sentinel_watch::run(subscription& l) {
  for (milliseconds pause{0};;) {
    const auto dialling = [&] { return dial(l); };
    try {
      std::unique_ptr<connection> made = co_await runtime::blocking(loop_, dialling);
      l.to = std::move(made);
    } catch (const std::exception&) {  // no thread can start now
    }
    pause = l.to ? 20ms : std::min(longest_sentinel_pause, pause * 2 + 20ms);
    if (l.to) co_await listen(l);
    const wake why = co_await sleep(loop_, limit(later(loop_.now(), pause), ending_.get_token()));
    if (why == wake::stopped) co_return;
  }
}

/// On the worker thread. Returns null if it fails.
std::unique_ptr<connection> sentinel_watch::dial(subscription& to) const noexcept {
  try {
    const limit l(later(boot_clock::now(), dialer_.config().connect_timeout), ending_.get_token());
    std::string refusal;
    std::unique_ptr<connection> made = sentinels_.subscribe(to.which, l, refusal);
    if (!refusal.empty() && !std::exchange(to.warned, true)) listener_.warned(refusal);
    return made;
  } catch (const std::exception&) {  // it is tried again; a caller that connects sees and reports the same
    return nullptr;
  }
}

/// Runs until the connection breaks, or an answer does not come.
task<void> sentinel_watch::listen(subscription& l) {
  l.sent.clear();
  l.answers.clear();
  l.epoch.reset();
  for (bool good = begin(l); good;) {
    const milliseconds period = sentinels_.between_questions();
    const wake why = co_await wait(loop_, l.broken, limit(later(loop_.now(), period), ending_.get_token()));
    const bool is_silent =
        !l.sent.empty() && loop_.now() >= later(l.asked, period);  // a message may have caused the question
    good = why == wake::late && !is_silent && (!l.sent.empty() || ask(l));
  }
  loop_.unwatch(l.to->fd());
  l.to.reset();
}

bool sentinel_watch::begin(subscription& l) noexcept {
  try {
    loop_.watch(l.to->fd(), [this, &l] { on_ready(l); });
  } catch (const std::exception&) {
    return false;
  }
  return ask(l);
}

bool sentinel_watch::ask(subscription& l) noexcept {
  try {
    const command question = sentinels_.question();
    if (l.sent.empty()) l.asked = loop_.now();
    l.sent.add(question, &l.answers.emplace_back(question));
    std::string bytes;
    l.sent.take_unsent(bytes);
    return l.to->send(bytes);
  } catch (const std::exception&) {
    return false;
  }
}

void sentinel_watch::on_ready(subscription& l) noexcept {
  try {
    (void)l.to->receive();
    while (std::optional<value> v = l.to->next()) {
      if (v->is(value::kind::push)) {
        take_message(l, *v);
      } else if (l.sent.take(std::move(*v)) != nullptr) {
        const value both = std::get<value>(*std::move(l.answers.front().got));
        l.answers.pop_front();
        l.epoch = sentinels_.take_answer(both.items[0], both.items[1]);
      }
    }
  } catch (const std::exception&) {
    l.broken.set();
  }
}

void sentinel_watch::take_message(subscription& l, const value& message) {
  sentinels::sentinel_event what = sentinels_.parse(message);
  if (what.needs_question && !ask(l)) l.broken.set();
  if (what.chosen && l.epoch) promotion_.begin(std::move(*what.chosen), *l.epoch);
}

}  // namespace holdfast::redis
