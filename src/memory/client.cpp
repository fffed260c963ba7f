#include "memory/client.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::memory {

namespace {

using runtime::io;
using runtime::task;
using runtime::wake;
using seam::done;
using seam::grant;

bool one_in(io& i, unsigned n) { return n != 0 && i.random() % n == 0; }

class place final : public seam::claim {
 public:
  place(server& s, seam::claim_spec spec) : server_(s), me_(std::move(spec)) {}
  ~place() override { server_.leave(me_); }

  task<answer<grant>> poll(io& i, limit l) override {
    return ask<grant>(i, std::move(l), [this](instant now) {
      server::state_of is = server_.acquire(me_, now);
      expires_ = is.expires;
      if (!is.ours) return answer<grant>::no({std::move(is.holder)});
      const instant deadline = seam::deadline_after(now, me_.spec().ttl);
      return answer<grant>::yes({is.fence, server::fences_in_a_block, deadline});
    });
  }

  // A push may get lost, and an expiry pushes nothing: look again when the holder's time is up.
  task<wake> wakeup(io& i, limit l) override {
    const wake why = co_await wait(i, me_.granted(), limit(std::min(l.at(), expires_), l.stop()));
    co_return why == wake::late&& expires_ < l.at() ? wake::signalled : why;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    return ask<instant>(i, std::move(l), [this, ttl](instant now) {
      if (!server_.renew(me_, ttl, now)) return answer<instant>::no();
      return answer<instant>::yes(seam::deadline_after(now, ttl));
    });
  }

  task<answer<done>> release(io& i, limit l) override {
    return ask<done>(i, std::move(l), [this](instant now) {
      return server_.release(me_, now) ? answer<done>::yes({}) : answer<done>::no();
    });
  }

 private:
  template <class T, class Act>
  task<answer<T>> ask(io& i, limit l, Act act) {
    if (!server_.faulty()) co_return act(i.now());
    const faults f = server_.current_faults();
    if (f.refusal) co_return answer<T>::unknown(*f.refusal);
    if (!one_in(i, f.lose_requests)) {
      answer<T> reply = act(i.now());
      if (!one_in(i, f.lose_replies)) co_return reply;
    }
    const wake why = co_await sleep(i, l);
    (void)why;
    co_return answer<T>::unknown(seam::failure(errc::unreachable, "no answer"));
  }

  server& server_;
  party me_;
  instant expires_{};
};

}  // namespace

client::client(std::shared_ptr<server> s) noexcept : server_(std::move(s)) {}

std::unique_ptr<seam::claim> client::open(seam::claim_spec spec) {
  return std::make_unique<place>(*server_, std::move(spec));
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

}  // namespace holdfast::memory
