#include "directory/client.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <system_error>
#include <utility>

#include "directory/health_check.hpp"
#include "runtime/blocking.hpp"
#include "runtime/random.hpp"

namespace holdfast::directory {

namespace {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::never;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::done;
using storage::grant;

template <class T, class Act>
task<answer<T>> attempt(io& i, Act act, instant until) {
  const auto once = [act, until] {
    try {
      return act(until);
    } catch (const storage::failure& why) {
      return answer<T>::unknown(why);
    } catch (const std::system_error& e) {
      return answer<T>::unknown(storage::failure(errc::not_ready, e.what()));
    }
  };
  answer<T> result = co_await runtime::blocking(i, once);
  co_return result;
}

/// Calls `act` until the writer lock was available or the limit has passed.
template <class T, class Act>
task<answer<T>> ask(io& i, limit l, Act act) {
  for (;;) {
    // All callers on the loop share one worker thread. One that kept it for long would make others miss their limits.
    const instant until = i.in_place() ? l.at() : std::min(l.at(), later(i.now(), 5ms));
    answer<T> result = co_await attempt<T>(i, act, until);
    const bool no_turn = result.is_unknown() && result.why().code == errc::unreachable;
    if (!no_turn || i.now() >= l.at()) co_return result;
    const wake why = co_await sleep(i, limit(std::min(l.at(), later(i.now(), 1ms)), l.stop()));
    if (why == wake::stopped) co_return result;
  }
}

}  // namespace

class client::claim final : public storage::claim {
 public:
  claim(client& c, storage::claim_spec spec) : client_(c), receiver_(c.inbox_, std::bit_cast<owner_bytes>(spec.owner)) {
    me_.name = std::move(spec.name);
    me_.owner = std::bit_cast<owner_bytes>(spec.owner);
    me_.wants = spec.wants;
    me_.ttl = spec.ttl;
    me_.fixed = spec.fixed;
    me_.queue = spec.queue;
    me_.barges = spec.barges;
    me_.delay = spec.delay;
    me_.label = std::move(spec.label);
    client_.file_watch_.begin();
  }

  task<answer<grant>> poll(io& i, limit l) override {
    const std::optional<message> granted = receiver_.granted.with([](auto& last) { return std::exchange(last, {}); });
    if (granted && granted->expires > i.now().time_since_epoch().count()) return adopt(*granted);
    return ask<grant>(i, std::move(l), [this](instant until) {
      const instant sent = boot_clock::now();
      std::vector<notification> notifications;
      last_ = client_.table_.poll(me_, until, notifications);
      client_.notify(me_.name, std::move(notifications), until);
      if (!last_.ours) return answer<grant>::no({last_.holder});
      const instant deadline = me_.fixed ? storage::deadline_after(sent, me_.ttl) : never;
      return answer<grant>::yes({last_.fence, fences_of(me_.wants), deadline});
    });
  }

  // Each waiter watches the process of the waiter before it, and the first waiter watches all holders. A waiter that
  // leaves the queue notifies the one behind it.
  task<wake> wakeup(io& i, limit l) override {
    const pidfd_watch watch(client_.loop_, client_.sessions_, client_.pid_namespace_, last_.ahead, receiver_.called);
    // Messages can be lost, so the claim polls again after a while in any case.
    const instant again = std::min(last_.expires, later(i.now(), 10s));
    for (;;) {
      const instant next = watch.watches_all() ? again : std::min(again, later(i.now(), 100ms));
      const limit nearer(std::min(l.at(), next), l.stop());
      const wake why = co_await wait(i, receiver_.called, nearer);
      if (why != wake::late) co_return why;
      const instant now = i.now();
      if (now >= again || watch.any_unwatched_ended()) co_return wake::signalled;
      if (now >= l.at()) co_return wake::late;
    }
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    return ask<instant>(i, std::move(l), [this, ttl](instant until) {
      const instant sent = boot_clock::now();
      if (!client_.table_.renew(me_, ttl, until)) return answer<instant>::no();
      return answer<instant>::yes(me_.fixed ? storage::deadline_after(sent, ttl) : never);
    });
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    return ask<instant>(i, std::move(l), [this, fence, ttl](instant until) {
      const instant sent = boot_clock::now();
      std::vector<notification> notifications;
      const bool ours = client_.table_.downgrade(me_, fence, ttl, until, notifications);
      client_.notify(me_.name, std::move(notifications), until);
      if (!ours) return answer<instant>::no();
      return answer<instant>::yes(me_.fixed ? storage::deadline_after(sent, ttl) : never);
    });
  }

  task<answer<done>> release(io& i, limit l) override {
    return ask<done>(i, std::move(l), [this](instant until) {
      std::vector<notification> notifications;
      const bool was_there = client_.table_.release(me_, until, notifications);
      client_.notify(me_.name, std::move(notifications), until);
      return was_there ? answer<done>::yes({}) : answer<done>::no();
    });
  }

 private:
  /// The client that released the lock has written the grant into the table before it sent the message.
  task<answer<grant>> adopt(message granted) {
    const instant granted_at(std::chrono::nanoseconds(granted.expires) - me_.ttl);
    const instant deadline = me_.fixed ? storage::deadline_after(granted_at, me_.ttl) : never;
    const grant g{granted.fence, fences_of(me_.wants), deadline};
    co_return answer<grant>::yes(g);
  }

  client& client_;
  entry me_;
  receiver receiver_;
  lock_table::poll_result last_;
};

class client::cell final : public storage::cell {
 public:
  cell(client& c, std::string name)
      : client_(c),
        name_(std::move(name)),
        me_(std::bit_cast<owner_bytes>(storage::owner_id{runtime::random_bits(), runtime::random_bits()})) {
    client_.file_watch_.begin();
  }

  task<answer<storage::reading>> get(io& i, limit l) override {
    return ask<storage::reading>(i, std::move(l), [this](instant until) {
      return answer<storage::reading>::yes(client_.table_.get_cell(name_, until));
    });
  }

  task<answer<std::uint64_t>> put(io& i, std::uint64_t seen, storage::change wanted, limit l) override {
    return ask<std::uint64_t>(i, std::move(l), [this, seen, wanted = std::move(wanted)](instant until) {
      std::vector<notification> notifications;
      answer<std::uint64_t> said = client_.table_.put_cell(name_, seen, wanted, until, notifications);
      for (const notification& each : notifications) (void)client_.inbox_.send(each.session, each.text);
      return said;
    });
  }

  task<wake> changed(io& i, storage::reading seen, limit l) override {
    receiver ours(client_.inbox_, me_);  // before others see us in the table
    // Messages can be lost, so the caller reads again after a while in any case.
    const milliseconds pause = storage::look_again + milliseconds(i.random() % 5'000);
    const instant again = later(i.now(), seen.there ? std::min(seen.left, pause) : pause);
    const auto watch = [this, seen, pause](instant until) {
      return answer<bool>::yes(client_.table_.watch_cell(name_, seen, me_, pause + 1s, until));
    };
    answer<bool> as_seen = co_await ask<bool>(i, l, watch);
    if (as_seen.is_yes() && !as_seen.value()) co_return wake::signalled;
    // After an error the caller reads again soon, which reports it.
    const instant next = as_seen.is_yes() ? again : std::min(again, later(i.now(), 100ms));
    const wake why = co_await wait(i, ours.called, limit(std::min(l.at(), next), l.stop()));
    co_return why == wake::late&& next < l.at() ? wake::signalled : why;
  }

 private:
  client& client_;
  const std::string name_;
  const owner_bytes me_;
};

client::client(const std::string& path, runtime::loop& loop)
    : folder_(path),
      sessions_(folder_),
      pid_namespace_(own_pid_namespace()),
      loop_(loop),
      table_(folder_, sessions_, ended_),
      inbox_(folder_, sessions_.own(), ended_, loop),
      file_watch_([this] { check_files(); }, [this] { refresh_files(); }, loop) {}

client::~client() {
  file_watch_.when_failed(nullptr);  // the backend_events are gone by now
  inbox_.when_overflowed(nullptr);
  for (const notification& each : table_.leave()) (void)inbox_.send(each.session, each.text);
}

void client::check_files() {
  table_.check_files();
  inbox_.check();
}

/// Programs that delete old files go by their times, and some files are not written while the store is in use.
void client::refresh_files() noexcept {
  for (const char* each : {"sessions", "writers", "fences", "locks.db", "locks.db-wal", "locks.db-shm"}) {
    folder_.refresh(each);
  }
  inbox_.refresh();
}

std::unique_ptr<storage::claim> client::open(storage::claim_spec spec) {
  return std::make_unique<claim>(*this, std::move(spec));
}

std::unique_ptr<storage::cell> client::open_cell(std::string name) {
  return std::make_unique<cell>(*this, std::move(name));
}

void client::start(storage::backend_events& events) {
  inbox_.when_revoked([&events](storage::revoke_request what) { events.revoke_requested(std::move(what)); });
  inbox_.when_overflowed([&events] { events.in_doubt(storage::no_shard); });
  file_watch_.when_failed([this, &events] {
    inbox_.wake_all();
    events.in_doubt(storage::no_shard);
  });
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::kernel, .fair = true, .survives_restart = true, .notices_death_at_once = true};
}

/// Sends the messages. An admitted claim whose process has just ended is passed over. A claim that a message does not
/// reach polls again after a while.
void client::notify(const std::string& name, std::vector<notification> notifications, instant until) noexcept {
  for (std::size_t n = 0; n < notifications.size(); ++n) {
    const notification next = notifications[n];
    try {
      if (inbox_.send(next.session, next.text) != inbox::result::gone) continue;
      if (!sessions_.alive(next.session)) table_.pass_over(next.session, name, until, notifications);
    } catch (...) {  // the caller's own change is done, and its result is what counts
    }
  }
}

task<answer<state>> client::inspect(io& i, std::string name, limit l) {
  return ask<state>(i, std::move(l), [this, name = std::move(name)](instant until) {
    return answer<state>::yes(table_.inspect(name, until));
  });
}

task<answer<listing>> client::list(io& i, std::string prefix, std::string after, std::size_t most, limit l) {
  const auto look = [this, prefix = std::move(prefix), after = std::move(after), most](instant until) {
    return answer<listing>::yes(table_.list(prefix, after, most, until));
  };
  return ask<listing>(i, std::move(l), look);
}

task<answer<done>> client::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  const auto write = [this, &name, &reason, fence](instant until) {
    return answer<claims_by_session>::yes(table_.revoke(name, reason, fence, until));
  };
  answer<claims_by_session> asked = co_await ask<claims_by_session>(i, l, write);
  if (asked.is_unknown()) co_return answer<done>::unknown(asked.why());
  answer<done> end = answer<done>::no();
  const auto messages = messages_to(asked.value(), {.fence = fence, .reason = reason, .owners = {}});
  for (const auto& [session, text] : messages) {
    answer<done> one = co_await send(i, session, text, l);
    if (one.is_unknown()) co_return one;
    if (one.is_yes()) end = one;
  }
  co_return end;
}

/// no: the process has ended.
task<answer<done>> client::send(io& i, session_id to, const revoke_message& text, limit l) {
  for (;;) {
    const inbox::result sent = inbox_.send(to, text);
    if (sent == inbox::result::sent) co_return answer<done>::yes(done());
    if (sent == inbox::result::gone && !sessions_.alive(to)) co_return answer<done>::no();
    if (i.now() >= l.at()) break;
    const wake why = co_await sleep(i, limit(std::min(l.at(), later(i.now(), 5ms)), l.stop()));
    if (why == wake::stopped) break;
  }
  co_return answer<done>::unknown(storage::failure(errc::unreachable, "a holder does not read its messages"));
}

task<answer<done>> client::break_lock(io& i, storage::break_request what, limit l) {
  return ask<done>(i, std::move(l), [this, what = std::move(what)](instant until) {
    std::vector<notification> notifications;
    claims_by_session losers;
    if (!table_.break_lock(what, until, notifications, losers)) return answer<done>::no();
    notify(what.name, std::move(notifications), until);
    // A full inbox needs no message: its reader will renew all leases.
    for (const auto& [session, text] : messages_to(losers, {.owners = {}, .broken = true})) {
      (void)inbox_.send(session, text);
    }
    return answer<done>::yes({});
  });
}

task<answer<done>> client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  return ask<done>(i, std::move(l), [this, name = std::move(name), whole](instant until) {
    std::vector<notification> notifications;
    table_.resize(name, whole, until, notifications);
    notify(name, std::move(notifications), until);
    return answer<done>::yes({});
  });
}

task<answer<std::vector<finding>>> client::examine(io& i, limit l) {
  return ask<std::vector<finding>>(i, std::move(l), [this](instant until) {
    table_.check_files();
    return answer<std::vector<finding>>::yes(check_health(folder_, sessions_, until));
  });
}

}  // namespace holdfast::directory
