#include "directory/client.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <system_error>
#include <utility>

#include "directory/death_watch.hpp"
#include "directory/examination.hpp"
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

/// As many as fit into a letter.
std::vector<owner_bytes> some_of(const std::vector<owner_bytes>& all, std::size_t from) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
  return {first, first + static_cast<std::ptrdiff_t>(std::min(letter::most_owners, all.size() - from))};
}

}  // namespace

class client::place final : public storage::claim {
 public:
  place(client& c, storage::claim_spec spec) : client_(c) {
    me_.name = std::move(spec.name);
    me_.owner = std::bit_cast<owner_bytes>(spec.owner);
    me_.wants = spec.wants;
    me_.ttl = spec.ttl;
    me_.fixed = spec.fixed;
    me_.queue = spec.queue;
    me_.barges = spec.barges;
    me_.delay = spec.delay;
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
      const instant deadline = me_.fixed ? storage::deadline_after(sent, me_.ttl) : never;
      return answer<grant>::yes({found_.fence, fences_of(me_.wants), deadline});
    });
  }

  // It is enough to watch the one before us: whoever stands there watches the next, and so on up to the first, who
  // watches all that hold. Whoever leaves the queue tells the one behind.
  task<wake> wakeup(io& i, limit l) override {
    const death_watch watch(client_.loop_, client_.sessions_, client_.pid_namespace_, found_.ahead, waiting_.called);
    // Nothing relies on a message alone.
    const instant again = std::min(found_.expires, later(i.now(), 10s));
    for (;;) {
      // Where a process cannot be watched, its byte is looked at.
      const instant next = watch.sees_all() ? again : std::min(again, later(i.now(), 100ms));
      const limit nearer(std::min(l.at(), next), l.stop());
      const wake why = co_await wait(i, waiting_.called, nearer);
      if (why != wake::late) co_return why;
      const instant now = i.now();
      if (now >= again || watch.one_is_gone()) co_return wake::signalled;
      if (now >= l.at()) co_return wake::late;
    }
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    return ask<instant>(i, std::move(l), [this, ttl](instant until) {
      const instant sent = boot_clock::now();
      if (!client_.ledger_.renew(me_, ttl, until)) return answer<instant>::no();
      return answer<instant>::yes(me_.fixed ? storage::deadline_after(sent, ttl) : never);
    });
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    return ask<instant>(i, std::move(l), [this, fence, ttl](instant until) {
      const instant sent = boot_clock::now();
      std::vector<summons> told;
      const bool ours = client_.ledger_.downgrade(me_, fence, ttl, until, told);
      client_.summon(me_.name, std::move(told), until);
      if (!ours) return answer<instant>::no();
      return answer<instant>::yes(me_.fixed ? storage::deadline_after(sent, ttl) : never);
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
  task<answer<grant>> as_told(message granted) {
    const instant granted_at(std::chrono::nanoseconds(granted.expires) - me_.ttl);
    const instant deadline = me_.fixed ? storage::deadline_after(granted_at, me_.ttl) : never;
    const grant g{granted.fence, fences_of(me_.wants), deadline};
    co_return answer<grant>::yes(g);
  }

  client& client_;
  entry me_;
  addressee waiting_;
  ledger::found found_;
};

/// Somebody who waits stands in the inbox for as long as it does.
class client::in_inbox {
 public:
  in_inbox(inbox& all, const owner_bytes& owner, addressee& waiter) : all_(all), owner_(owner) {
    all_.add(owner_, waiter);
  }
  in_inbox(const in_inbox&) = delete;
  in_inbox& operator=(const in_inbox&) = delete;
  ~in_inbox() { all_.remove(owner_); }

 private:
  inbox& all_;
  const owner_bytes& owner_;
};

class client::number final : public storage::cell {
 public:
  number(client& c, std::string name)
      : client_(c),
        name_(std::move(name)),
        me_(std::bit_cast<owner_bytes>(storage::owner_id{runtime::random_bits(), runtime::random_bits()})) {
    client_.lookout_.begin();
  }

  task<answer<storage::reading>> get(io& i, limit l) override {
    return ask<storage::reading>(i, std::move(l), [this](instant until) {
      return answer<storage::reading>::yes(client_.ledger_.get_cell(name_, until));
    });
  }

  task<answer<std::uint64_t>> put(io& i, std::uint64_t seen, storage::change wanted, limit l) override {
    return ask<std::uint64_t>(i, std::move(l), [this, seen, wanted = std::move(wanted)](instant until) {
      std::vector<summons> told;
      answer<std::uint64_t> said = client_.ledger_.put_cell(name_, seen, wanted, until, told);
      for (const summons& each : told) (void)client_.inbox_.send(each.session, each.text);  // who is gone, is gone
      return said;
    });
  }

  // Nothing relies on a message alone.
  task<wake> changed(io& i, storage::reading seen, limit l) override {
    const in_inbox ours(client_.inbox_, me_, waiting_);  // before others know of it
    const milliseconds pause = storage::look_again + milliseconds(i.random() % 5'000);
    const instant again = later(i.now(), seen.there ? std::min(seen.left, pause) : pause);
    const auto watch = [this, seen, pause](instant until) {
      return answer<bool>::yes(client_.ledger_.watch_cell(name_, seen, me_, pause + 1s, until));
    };
    answer<bool> as_seen = co_await ask<bool>(i, l, watch);
    if (as_seen.is_yes() && !as_seen.value()) co_return wake::signalled;
    // Whoever looks again hears what is wrong.
    const instant next = as_seen.is_yes() ? again : std::min(again, later(i.now(), 100ms));
    const wake why = co_await wait(i, waiting_.called, limit(std::min(l.at(), next), l.stop()));
    co_return why == wake::late&& next < l.at() ? wake::signalled : why;
  }

 private:
  client& client_;
  const std::string name_;
  const owner_bytes me_;
  addressee waiting_;
};

client::client(const std::string& path, runtime::loop& loop)
    : folder_(path),
      sessions_(folder_),
      pid_namespace_(own_pid_namespace()),
      loop_(loop),
      ledger_(folder_, sessions_, gone_),
      inbox_(folder_, sessions_.own(), gone_, loop),
      lookout_([this] { check_files(); }, [this] { refresh_files(); }, loop) {}

client::~client() {
  lookout_.report_to(nullptr);  // whom they told is gone by now
  inbox_.when_in_doubt(nullptr);
  for (const summons& each : ledger_.leave()) (void)inbox_.send(each.session, each.text);
}

void client::check_files() {
  ledger_.check_files();
  inbox_.check();
}

/// Programs that delete old files go by their times, and some files of a store are not written for as long as it is in
/// use.
void client::refresh_files() noexcept {
  for (const char* each : {"sessions", "writers", "fences", "locks.db", "locks.db-wal", "locks.db-shm"}) {
    folder_.refresh(each);
  }
  inbox_.refresh();
}

std::unique_ptr<storage::claim> client::open(storage::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

task<answer<done>> client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  return ask<done>(i, std::move(l), [this, name = std::move(name), whole](instant until) {
    std::vector<summons> told;
    ledger_.resize(name, whole, until, told);
    summon(name, std::move(told), until);
    return answer<done>::yes({});
  });
}

std::unique_ptr<storage::cell> client::open_cell(std::string name) {
  return std::make_unique<number>(*this, std::move(name));
}

task<answer<state>> client::inspect(io& i, std::string name, limit l) {
  return ask<state>(i, std::move(l), [this, name = std::move(name)](instant until) {
    return answer<state>::yes(ledger_.inspect(name, until));
  });
}

task<answer<done>> client::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  const auto look = [this, &name, &reason, fence](instant until) {
    return answer<claims_by_session>::yes(ledger_.ask_holders(name, reason, fence, until));
  };
  answer<claims_by_session> asked = co_await ask<claims_by_session>(i, l, look);
  if (asked.is_unknown()) co_return answer<done>::unknown(asked.why());
  answer<done> end = answer<done>::no();
  for (const auto& [session, owners] : asked.value()) {
    for (std::size_t from = 0; from < owners.size(); from += letter::most_owners) {
      const letter text{.fence = fence, .reason = reason, .owners = some_of(owners, from)};
      answer<done> one = co_await post(i, session, text, l);
      if (one.is_unknown()) co_return one;
      if (one.is_yes()) end = one;
    }
  }
  co_return end;
}

task<answer<listing>> client::list(io& i, std::string prefix, std::string after, std::size_t most, limit l) {
  const auto look = [this, prefix = std::move(prefix), after = std::move(after), most](instant until) {
    return answer<listing>::yes(ledger_.list(prefix, after, most, until));
  };
  return ask<listing>(i, std::move(l), look);
}

task<answer<done>> client::break_lock(io& i, storage::break_request what, limit l) {
  return ask<done>(i, std::move(l), [this, what = std::move(what)](instant until) {
    std::vector<summons> told;
    claims_by_session losers;
    if (!ledger_.break_lock(what, until, told, losers)) return answer<done>::no();
    summon(what.name, std::move(told), until);
    for (const auto& [session, owners] : losers) {
      for (std::size_t from = 0; from < owners.size(); from += letter::most_owners) {
        // Where it is full, whoever reads that many looks for itself.
        (void)inbox_.send(session, letter{.owners = some_of(owners, from), .taken = true});
      }
    }
    return answer<done>::yes({});
  });
}

/// no: its process is gone.
task<answer<done>> client::post(io& i, session_id to, const letter& text, limit l) {
  for (;;) {
    const inbox::fate is = inbox_.send(to, text);
    if (is == inbox::fate::sent) co_return answer<done>::yes(done());
    if (is == inbox::fate::gone && !sessions_.alive(to)) co_return answer<done>::no();
    if (i.now() >= l.at()) break;
    const wake why = co_await sleep(i, limit(std::min(l.at(), later(i.now(), 5ms)), l.stop()));
    if (why == wake::stopped) break;
  }
  co_return answer<done>::unknown(storage::failure(errc::unreachable, "a holder does not read what it is told"));
}

task<answer<std::vector<finding>>> client::examine(io& i, limit l) {
  return ask<std::vector<finding>>(i, std::move(l), [this](instant until) {
    ledger_.check_files();
    return answer<std::vector<finding>>::yes(directory::examine(folder_, sessions_, until));
  });
}

void client::start(storage::backend_events& events) {
  inbox_.report_to([&events](storage::revoke_request what) { events.revoke_requested(std::move(what)); });
  inbox_.when_in_doubt([&events] { events.in_doubt(storage::no_shard); });
  lookout_.report_to([this, &events] {
    inbox_.wake_all();
    events.in_doubt(storage::no_shard);
  });
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::kernel, .fair = true, .survives_restart = true, .notices_death_at_once = true};
}

/// Wakes those who were let in; one who is gone in this very moment is passed over. Whom this does not reach looks for
/// itself after a while.
void client::summon(const std::string& name, std::vector<summons> told, instant until) noexcept {
  for (std::size_t n = 0; n < told.size(); ++n) {
    const summons next = told[n];
    try {
      if (inbox_.send(next.session, next.text)) continue;
      if (!sessions_.alive(next.session)) ledger_.pass_over(next.session, name, until, told);
    } catch (...) {  // what our caller has done is done, and is what it hears of
    }
  }
}

}  // namespace holdfast::directory
