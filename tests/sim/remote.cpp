#include "sim/remote.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::milliseconds;

class remote::place final : public storage::claim {
 public:
  place(remote& r, storage::claim_spec spec) : remote_(r), spec_(std::move(spec)) {
    remote_.inbox_[key()] = &granted_;  // before the first poll, so that every push finds its claim
  }
  ~place() override { remote_.inbox_.erase(key()); }

  task<answer<storage::grant>> poll(io& i, limit l) override {
    const instant sent = i.now();
    demand d = say(demand::kind::acquire, spec_.ttl);
    const std::optional<lease_reply> got = co_await remote_.ask(i, std::move(d), l);
    if (!got) co_return no_answer<storage::grant>();
    if (got->foreign) co_return answer<storage::grant>::unknown(storage::failure(errc::foreign, "another size"));
    if (!got->yes) {
      again_at_ = later(i.now(), got->left + 1ms);
      co_return answer<storage::grant>::no();
    }
    const std::uint64_t fences = spec_.wants.exclusive() ? lease_server::fences_in_a_block : 1;
    const storage::grant grant{got->fence, fences, storage::deadline_after(sent, spec_.ttl)};
    co_return answer<storage::grant>::yes(grant);
  }

  task<wake> wakeup(io& i, limit l) override {
    const limit nearer(std::min(l.at(), again_at_), l.stop());
    const wake why = co_await wait(i, granted_, nearer);
    co_return why == wake::late&& again_at_ < l.at() ? wake::signalled : why;
  }

  task<answer<instant>> renew(io& i, milliseconds ttl, limit l) override {
    const instant sent = i.now();
    demand d = say(demand::kind::renew, ttl);
    const std::optional<lease_reply> got = co_await remote_.ask(i, std::move(d), l);
    if (!got) co_return no_answer<instant>();
    if (!got->yes) co_return answer<instant>::no();
    co_return answer<instant>::yes(storage::deadline_after(sent, ttl));
  }

  task<answer<instant>> downgrade(io& i, std::uint64_t fence, milliseconds ttl, limit l) override {
    const instant sent = i.now();
    demand d = say(demand::kind::downgrade, ttl);
    d.fence = fence;
    const std::optional<lease_reply> got = co_await remote_.ask(i, std::move(d), l);
    if (!got) co_return no_answer<instant>();
    if (!got->yes) co_return answer<instant>::no();
    co_return answer<instant>::yes(storage::deadline_after(sent, ttl));
  }

  task<answer<storage::done>> release(io& i, limit l) override {
    demand d = say(demand::kind::release, spec_.ttl);
    const std::optional<lease_reply> got = co_await remote_.ask(i, std::move(d), l);
    if (!got) co_return no_answer<storage::done>();
    if (!got->yes) co_return answer<storage::done>::no();
    co_return answer<storage::done>::yes(storage::done());
  }

 private:
  template <class T>
  static answer<T> no_answer() {
    return answer<T>::unknown(storage::failure::late("no answer"));
  }
  [[nodiscard]] demand say(demand::kind what, milliseconds ttl) const {
    return {what, spec_.name, spec_.owner, spec_.wants, ttl, spec_.queue, remote_.id_};
  }
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> key() const { return {spec_.owner.high, spec_.owner.low}; }

  remote& remote_;
  const storage::claim_spec spec_;
  runtime::signal granted_;
  instant again_at_{};
};

remote::remote(network& n, lease_server& s, client_io& loop, int id) : network_(n), server_(s), loop_(loop), id_(id) {}

std::unique_ptr<storage::claim> remote::open(storage::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

task<answer<storage::done>> remote::resize(io& i, std::string name, std::uint32_t whole, limit l) {
  demand d{
      .what = demand::kind::resize, .name = std::move(name), .owner = {}, .wants = storage::share::permits(1, whole)};
  const std::optional<lease_reply> got = co_await ask(i, std::move(d), l);
  if (!got) co_return answer<storage::done>::unknown(storage::failure::late("no answer"));
  co_return answer<storage::done>::yes(storage::done());
}

guarantees remote::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = true, .survives_restart = false, .notices_death_at_once = false};
}

void remote::pushed(storage::owner_id owner) {
  network_.send([this] { return !crashed_; },
                [this, owner] {
                  loop_.post([this, owner] {
                    const auto at = inbox_.find({owner.high, owner.low});
                    if (at != inbox_.end()) at->second->set();
                  });
                });
}

task<std::optional<lease_reply>> remote::ask(io& i, demand d, limit l) {
  if (network_.refuses()) {
    const wake why = co_await sleep(i, limit(std::min(l.at(), later(i.now(), 50us)), l.stop()));
    (void)why;
    co_return std::nullopt;
  }
  call mine;
  const std::uint64_t id = ++last_call_;
  calls_[id] = &mine;
  network_.send([this] { return !crashed_ && !network_.refuses(); },
                [this, d, id] {
                  const lease_reply r = server_.carry_out(d);
                  network_.send([this] { return !crashed_; },
                                [this, r, id] {
                                  loop_.post([this, r, id] {
                                    const auto at = calls_.find(id);
                                    if (at == calls_.end()) return;  // its caller has left
                                    at->second->got = r;
                                    at->second->arrived.set();
                                  });
                                });
                });
  const limit nearer(std::min(l.at(), later(i.now(), 120ms)), l.stop());
  const wake why = co_await wait(i, mine.arrived, nearer);
  (void)why;
  calls_.erase(id);
  co_return mine.got;
}

}  // namespace holdfast::sim
