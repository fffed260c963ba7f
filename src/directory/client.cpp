#include "directory/client.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "runtime/blocking.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::never;
using runtime::task;
using runtime::wake;
using seam::answer;
using seam::done;
using seam::grant;

/// Sets the signal when a process has ended.
class death_watch {
 public:
  /// Throws std::system_error.
  death_watch(runtime::loop& l, const process& p, const sessions& alive, runtime::signal& waiter)
      : loop_(l), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(p.pid), 0))) {
    if (pidfd_.get() < 0 && errno != ESRCH) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    // Only if it lives now is that pid its own, and not somebody's who got the same number later.
    if (!alive.alive(p.session)) {
      waiter.set();
    } else {
      loop_.watch(pidfd_.get(), [&waiter] { waiter.set(); }, runtime::loop::interest::readable_once);
    }
  }
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;
  ~death_watch() { loop_.unwatch(pidfd_.get()); }

 private:
  runtime::loop& loop_;
  descriptor pidfd_;
};

}  // namespace

class client::place final : public seam::claim {
 public:
  place(client& c, seam::claim_spec spec) : client_(c) {
    me_.name = std::move(spec.name);
    me_.owner = std::bit_cast<owner_bytes>(spec.owner);
    me_.ttl = spec.ttl;
    me_.fixed = spec.fixed;
    me_.queue = spec.queue;
    me_.label = std::move(spec.label);
    client_.lookout_.begin();
    if (me_.queue) client_.inbox_.add(me_.owner, waiting_);
  }
  ~place() override {
    if (me_.queue) client_.inbox_.remove(me_.owner);
  }

  task<answer<grant>> poll(io& i, limit l) override {
    const std::optional<message> granted = waiting_.granted.with([](auto& last) { return std::exchange(last, {}); });
    if (granted && granted->expires > i.now().time_since_epoch().count()) return as_told(*granted);
    return ask<grant>(i, std::move(l), [this](instant until) {
      const instant sent = boot_clock::now();
      std::vector<summons> told;
      found_ = client_.ledger_.acquire(me_, until, told);
      client_.summon(me_.name, std::move(told), until);
      if (!found_.ours) return answer<grant>::no({found_.holder});
      const instant deadline = me_.fixed ? seam::deadline_after(sent, me_.ttl) : never;
      return answer<grant>::yes({found_.fence, ledger::fences_in_a_block, deadline});
    });
  }

  // It is enough to watch the one before us: whoever stands there watches the next, and so on up to the holder. Whoever
  // leaves the queue tells the one behind.
  task<wake> wakeup(io& i, limit l) override {
    const process& before = found_.ahead;
    const bool ours = before.session == client_.sessions_.own();  // it cannot go without us
    const std::optional<death_watch> watch = ours ? std::nullopt : watch_for_death_of(before);
    const bool watched = ours || watch;
    // Nothing relies on a message alone.
    const instant again = std::min(found_.expires, later(i.now(), 10s));
    for (;;) {
      // Where a process cannot be watched, its byte is looked at.
      const instant next = watched ? again : std::min(again, later(i.now(), 100ms));
      const limit nearer(std::min(l.at(), next), l.stop());
      const wake why = co_await wait(i, waiting_.called, nearer);
      if (why != wake::late) co_return why;
      const instant now = i.now();
      if (now >= again || (!watched && !lives(before))) co_return wake::signalled;
      if (now >= l.at()) co_return wake::late;
    }
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    return ask<instant>(i, std::move(l), [this, ttl](instant until) {
      const instant sent = boot_clock::now();
      if (!client_.ledger_.renew(me_, ttl, until)) return answer<instant>::no();
      return answer<instant>::yes(me_.fixed ? seam::deadline_after(sent, ttl) : never);
    });
  }

  task<answer<done>> release(io& i, limit l) override {
    return ask<done>(i, std::move(l), [this](instant until) {
      std::vector<summons> told;
      const bool was_there = client_.ledger_.release(me_, until, told);
      client_.summon(me_.name, std::move(told), until);
      return was_there ? answer<done>::yes({}) : answer<done>::no();
    });
  }

 private:
  /// Nothing: it cannot be watched, because it is in another pid namespace, or for lack of something.
  std::optional<death_watch> watch_for_death_of(const process& p) noexcept {
    if (p.pid_namespace != client_.pid_namespace_) return std::nullopt;
    try {
      return std::optional<death_watch>(std::in_place, client_.loop_, p, client_.sessions_, waiting_.called);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  bool lives(const process& p) const noexcept {
    try {
      return client_.sessions_.alive(p.session);
    } catch (const std::exception&) {
      return false;  // then whoever asks again hears what is wrong
    }
  }

  /// Whoever released the lock has written down that it is ours, and said so: no need to look.
  task<answer<grant>> as_told(message granted) {
    me_.ticket = 0;
    const instant granted_at(std::chrono::nanoseconds(granted.expires) - me_.ttl);
    const instant deadline = me_.fixed ? seam::deadline_after(granted_at, me_.ttl) : never;
    const grant g{granted.fence, ledger::fences_in_a_block, deadline};
    co_return answer<grant>::yes(g);
  }

  template <class T, class Act>
  task<answer<T>> ask(io& i, limit l, Act act) {
    for (;;) {
      // On the loop all wait for one worker: nobody may keep it for long, or others would miss their limits.
      const instant until = i.in_place() ? l.at() : std::min(l.at(), later(i.now(), 5ms));
      answer<T> result = co_await attempt<T>(i, act, until);
      const bool no_turn = result.is_unknown() && result.why().code == errc::unreachable;
      if (!no_turn || i.now() >= l.at()) co_return result;
      const wake why = co_await sleep(i, limit(std::min(l.at(), later(i.now(), 1ms)), l.stop()));
      if (why == wake::stopped) co_return result;
    }
  }

  template <class T, class Act>
  task<answer<T>> attempt(io& i, Act act, instant until) {
    const auto once = [act, until] {
      try {
        return act(until);
      } catch (const seam::failure& why) {
        return answer<T>::unknown(why);
      } catch (const std::system_error& e) {
        return answer<T>::unknown(seam::failure(errc::not_ready, e.what()));
      }
    };
    answer<T> result = co_await runtime::blocking(i, once);
    co_return result;
  }

  client& client_;
  entry me_;
  addressee waiting_;
  ledger::found found_;
};

client::client(const std::string& path, runtime::loop& loop)
    : folder_(path),
      sessions_(folder_),
      pid_namespace_(own_pid_namespace()),
      loop_(loop),
      ledger_(folder_, sessions_, gone_),
      inbox_(folder_, sessions_.own(), gone_, loop),
      lookout_([this] { ledger_.check_files(); }, loop) {}

client::~client() {
  lookout_.report_to(nullptr);  // whom it told is gone by now
  for (const summons& each : ledger_.leave()) (void)inbox_.send(each.session, each.text);
}

std::unique_ptr<seam::claim> client::open(seam::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

void client::when_in_doubt(std::function<void()> verify) {
  lookout_.report_to([this, verify = std::move(verify)] {
    inbox_.wake_all();
    verify();
  });
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::kernel, .fair = true, .survives_restart = true, .notices_death_at_once = true};
}

/// Wakes those who were granted a lock; one who is gone in this very moment is skipped. Whom this does not reach looks
/// for itself after a while.
void client::summon(const std::string& name, std::vector<summons> told, instant until) noexcept {
  while (!told.empty()) {
    const summons next = told.back();
    told.pop_back();
    try {
      if (inbox_.send(next.session, next.text)) continue;
      if (!sessions_.alive(next.session)) ledger_.serve(name, until, told);
    } catch (...) {  // what our caller has done is done, and is what it hears of
    }
  }
}

}  // namespace holdfast::directory
