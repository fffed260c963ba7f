#include "directory/client.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
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
  death_watch(runtime::loop& l, const process& p, const sessions& alive, runtime::signal& waiter) : loop_(l) {
    pidfd_ = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(p.pid), 0)));
    // Only if it lives now is that pid its own, and not somebody's who got the same number later.
    const bool lives = alive.alive(p.session);
    if (!lives) waiter.set();  // it is gone already
    if (pidfd_.get() < 0 || !lives) return;
    loop_.watch(pidfd_.get(), [&waiter] { waiter.set(); }, true);
    works_ = true;
  }
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;
  ~death_watch() {
    if (works_) loop_.unwatch(pidfd_.get());
  }
  [[nodiscard]] bool works() const noexcept { return works_; }

 private:
  runtime::loop& loop_;
  descriptor pidfd_;
  bool works_ = false;
};

std::string bytes_of(const seam::owner_id& id) {
  std::string all(sizeof id, '\0');
  std::memcpy(all.data(), &id, sizeof id);
  return all;
}

}  // namespace

class client::place final : public seam::claim {
 public:
  place(client& c, seam::claim_spec spec) : client_(c) {
    me_.name = std::move(spec.name);
    me_.owner = bytes_of(spec.owner);
    me_.ttl = spec.ttl;
    me_.fixed = spec.fixed;
    me_.queue = spec.queue;
    me_.label = std::move(spec.label);
    if (me_.queue) client_.inbox_.add(me_.owner, waiting_);
  }
  ~place() override {
    if (me_.queue) client_.inbox_.remove(me_.owner);
  }

  task<answer<grant>> poll(io& i, limit l) override {
    const std::optional<message> granted = waiting_.granted.with([](auto& last) { return std::exchange(last, {}); });
    if (granted) return told(*granted);
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
    std::optional<death_watch> watch;
    if (!ours && before.pid_namespace == client_.pid_namespace_) {
      watch.emplace(client_.loop_, before, client_.sessions_, waiting_.called);
    }
    // Where a process cannot be watched, its byte is looked at; and nothing relies on a message alone.
    const bool watched = ours || (watch && watch->works());
    const instant again = std::min(found_.expires, later(i.now(), watched ? 10s : 100ms));
    const limit nearer(std::min(l.at(), again), l.stop());
    const wake why = co_await wait(i, waiting_.called, nearer);
    const bool time_to_look = why == wake::late && again < l.at();
    co_return time_to_look ? wake::signalled : why;
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
  /// Whoever released the lock has written down that it is ours, and said so: no need to look.
  task<answer<grant>> told(message granted) {
    me_.ticket = 0;
    const instant granted_at(std::chrono::nanoseconds(granted.expires) - me_.ttl);
    const instant deadline = me_.fixed ? seam::deadline_after(granted_at, me_.ttl) : never;
    const grant g{granted.fence, ledger::fences_in_a_block, deadline};
    co_return answer<grant>::yes(g);
  }

  template <class T, class Act>
  task<answer<T>> ask(io& i, limit l, Act act) {
    const instant until = l.at();
    const auto attempt = [this, act, until] {
      try {
        return act(until);
      } catch (const seam::failure& why) {
        return answer<T>::unknown(why);
      } catch (const std::system_error& e) {
        return answer<T>::unknown(seam::failure(errc::not_ready, e.what()));
      }
    };
    answer<T> result = co_await runtime::blocking(i, attempt);
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
      lookout_(folder_, loop),
      ledger_(folder_, sessions_, lookout_, gone_),
      inbox_(folder_, sessions_.own(), gone_, loop) {}

client::~client() {
  lookout_.report_to(nullptr);  // whom it told is about to go
  ledger_.leave();
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

/// Wakes those who were granted a lock; one who is gone in this very moment is skipped.
void client::summon(const std::string& name, std::vector<summons> told, instant until) {
  while (!told.empty()) {
    const summons next = told.back();
    told.pop_back();
    if (inbox_.send(next.session, next.text)) continue;
    if (!sessions_.alive(next.session)) ledger_.serve(name, until, told);
  }
}

}  // namespace holdfast::directory
