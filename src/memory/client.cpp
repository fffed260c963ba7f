#include "memory/client.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

namespace {

using runtime::io;
using runtime::task;
using runtime::wake;
using storage::done;
using storage::grant;

bool one_in(io& i, unsigned n) { return n != 0 && i.random() % n == 0; }

template <class T, class Act>
answer<T> carry_out(const Act& act, instant now) {
  try {
    return act(now);
  } catch (const storage::failure& why) {
    return answer<T>::unknown(why);
  }
}

/// Makes a request to the server, with the faults that tests have set.
template <class T, class Act>
task<answer<T>> ask(const server& s, io& i, limit l, Act act) {
  if (!s.faulty()) co_return carry_out<T>(act, i.now());
  const faults f = s.current_faults();
  if (f.refusal) co_return answer<T>::unknown(*f.refusal);
  if (!one_in(i, f.lose_requests)) {
    answer<T> reply = carry_out<T>(act, i.now());
    if (!one_in(i, f.lose_replies)) co_return reply;
  }
  const wake why = co_await sleep(i, l);
  (void)why;
  co_return answer<T>::unknown(storage::failure::late("no answer"));
}

class claim final : public storage::claim {
 public:
  claim(server& s, storage::claim_spec spec) : server_(s), me_(std::move(spec)) {}
  ~claim() override { server_.leave(me_); }

  task<answer<grant>> poll(io& i, limit l) override {
    return ask<grant>(server_, i, std::move(l), [this](instant now) {
      server::state_of is = server_.acquire(me_, now);
      expires_ = is.expires;
      if (!is.ours) return answer<grant>::no({std::move(is.holder)});
      const instant deadline = storage::deadline_after(now, me_.spec().ttl);
      return answer<grant>::yes({is.fence, is.fences, deadline});
    });
  }

  // Also signalled when the holder's lease expires, because an expiry sends no notification, and one may be lost.
  task<wake> wakeup(io& i, limit l) override {
    const wake why = co_await wait(i, me_.granted(), limit(std::min(l.at(), expires_), l.stop()));
    co_return why == wake::late&& expires_ < l.at() ? wake::signalled : why;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    return ask<instant>(server_, i, std::move(l), [this, ttl](instant now) {
      if (!server_.renew(me_, ttl, now)) return answer<instant>::no();
      return answer<instant>::yes(storage::deadline_after(now, ttl));
    });
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    return ask<instant>(server_, i, std::move(l), [this, fence, ttl](instant now) {
      if (!server_.downgrade(me_, fence, ttl, now)) return answer<instant>::no();
      return answer<instant>::yes(storage::deadline_after(now, ttl));
    });
  }

  task<answer<done>> release(io& i, limit l) override {
    return ask<done>(server_, i, std::move(l), [this](instant now) {
      return server_.release(me_, now) ? answer<done>::yes({}) : answer<done>::no();
    });
  }

 private:
  server& server_;
  party me_;
  instant expires_{};
};

class cell final : public storage::cell {
 public:
  cell(server& s, std::string name) : server_(s), name_(std::move(name)) {}

  task<answer<storage::reading>> get(io& i, limit l) override {
    return ask<storage::reading>(server_, i, std::move(l), [this](instant now) {
      return answer<storage::reading>::yes(server_.numbers().get(name_, now));
    });
  }

  task<answer<std::uint64_t>> put(io& i, std::uint64_t seen, storage::change wanted, limit l) override {
    return ask<std::uint64_t>(server_, i, std::move(l), [this, seen, wanted = std::move(wanted)](instant now) {
      return server_.numbers().put(name_, seen, wanted, now);
    });
  }

  // Also signalled when the cell expires, because that sends no notification, and one may be lost.
  task<wake> changed(io& i, storage::reading seen, limit l) override {
    runtime::signal notified;
    const instant now = i.now();
    if (!server_.numbers().watch(name_, seen, notified, now)) co_return wake::signalled;
    const instant again = now + (seen.there ? std::min(seen.left, storage::look_again) : storage::look_again);
    const wake why = co_await wait(i, notified, limit(std::min(l.at(), again), l.stop()));
    server_.numbers().forget(name_, notified);
    co_return why == wake::late&& again < l.at() ? wake::signalled : why;
  }

 private:
  server& server_;
  const std::string name_;
};

}  // namespace

client::client(std::shared_ptr<server> s) noexcept : server_(std::move(s)) {}

std::unique_ptr<storage::claim> client::open(storage::claim_spec spec) {
  return std::make_unique<claim>(*server_, std::move(spec));
}

task<answer<done>> client::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  return ask<done>(*server_, i, std::move(l), [s = server_, name = std::move(name), whole](instant now) {
    s->resize(name, whole, now);
    return answer<done>::yes({});
  });
}

std::unique_ptr<storage::cell> client::open_cell(std::string name) {
  return std::make_unique<cell>(*server_, std::move(name));
}

task<answer<state>> client::inspect(io& i, std::string name, limit l) {
  return ask<state>(*server_, i, std::move(l), [s = server_, name = std::move(name)](instant now) {
    return answer<state>::yes(s->inspect(name, now));
  });
}

task<answer<done>> client::revoke(io& i, std::string name, std::string reason, std::uint64_t fence, limit l) {
  return ask<done>(*server_, i, std::move(l),
                   [s = server_, name = std::move(name), reason = std::move(reason), fence](instant now) {
                     return s->revoke(name, reason, fence, now) ? answer<done>::yes({}) : answer<done>::no();
                   });
}

task<answer<listing>> client::list(io& i, std::string prefix, std::string after, std::size_t most, limit l) {
  const auto look = [s = server_, prefix = std::move(prefix), after = std::move(after), most](instant now) {
    return answer<listing>::yes(s->list(prefix, after, most, now));
  };
  return ask<listing>(*server_, i, std::move(l), look);
}

task<answer<done>> client::break_lock(io& i, storage::break_request what, limit l) {
  return ask<done>(*server_, i, std::move(l), [s = server_, what = std::move(what)](instant now) {
    return s->break_lock(what, now) ? answer<done>::yes({}) : answer<done>::no();
  });
}

task<answer<std::vector<finding>>> client::examine(io&, limit) {
  std::vector<finding> one;
  one.push_back({finding::severity::note, "memory.process", "The store is inside this process, and ends with it.",
                 "Other processes do not see its locks, and take theirs at the same time.",
                 "Open dir:/PATH for the processes of one machine, or redis://HOST for several machines."});
  co_return answer<std::vector<finding>>::yes(std::move(one));
}

void client::start(storage::backend_events& events) {
  events_ = &events;
  server_->add(events);
}

void client::close() noexcept {
  if (events_ != nullptr) server_->remove(*events_);
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

}  // namespace holdfast::memory
