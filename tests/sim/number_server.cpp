#include "sim/number_server.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::sim {

using namespace std::chrono_literals;
using runtime::io;
using runtime::later;
using runtime::task;
using runtime::wake;
using storage::answer;
using storage::reading;

namespace {

/// A request that was sent. Its reply may arrive after its caller has left.
template <class T>
struct call {
  runtime::signal arrived;
  std::optional<T> got;
  bool over = false;
};

/// Returns nothing if no answer comes within the limit, or before the connection is given up.
template <class T>
task<std::optional<T>> ask(network& n, client_io& loop, io& i, limit l, std::function<T()> at_the_server) {
  const auto mine = std::make_shared<call<T>>();
  const auto always = [] { return true; };
  const auto reply = [&n, &loop, mine, always, at_the_server] {
    const T said = at_the_server();
    n.send(always, [&loop, mine, said] {
      loop.post([mine, said] {
        if (mine->over) return;
        mine->got = said;
        mine->arrived.set();
      });
    });
  };
  if (!n.refuses()) n.send([&n] { return !n.refuses(); }, reply);
  const runtime::span patience = n.refuses() ? runtime::span(50us) : runtime::span(120ms);
  const limit nearer(std::min(l.at(), later(i.now(), patience)), l.stop());
  const wake why = co_await wait(i, mine->arrived, nearer);
  (void)why;
  mine->over = true;
  co_return mine->got;
}

template <class T>
answer<T> no_answer() {
  return answer<T>::unknown(storage::failure::late("no answer"));
}

}  // namespace

class number_server::remote final : public storage::cell {
 public:
  remote(number_server& s, client_io& loop, std::string name) : server_(s), loop_(loop), name_(std::move(name)) {}

  task<answer<reading>> get(io& i, limit l) override {
    std::function<reading()> step = [s = &server_, name = name_] { return s->look(name); };
    std::optional<reading> got = co_await ask<reading>(server_.network_, loop_, i, std::move(l), std::move(step));
    if (!got) co_return no_answer<reading>();
    co_return answer<reading>::yes(std::move(*got));
  }

  task<answer<std::uint64_t>> put(io& i, std::uint64_t seen, storage::change wanted, limit l) override {
    using said = answer<std::uint64_t>;
    std::function<said()> step = [s = &server_, name = name_, seen, wanted] { return s->put(name, seen, wanted); };
    std::optional<said> got = co_await ask<said>(server_.network_, loop_, i, std::move(l), std::move(step));
    if (!got) co_return no_answer<std::uint64_t>();
    co_return std::move(*got);
  }

  task<wake> changed(io& i, reading seen, limit l) override {
    const auto me = std::make_shared<watcher>();
    std::function<bool()> step = [s = &server_, name = name_, seen, me, loop = &loop_] {
      return s->watch(name, seen, *loop, me);
    };
    const std::optional<bool> as_seen = co_await ask<bool>(server_.network_, loop_, i, l, std::move(step));
    if (as_seen && !*as_seen) co_return wake::signalled;
    const runtime::span pause = seen.there ? std::min<runtime::span>(seen.left + 1ms, 1s) : runtime::span(1s);
    const instant next = later(i.now(), as_seen ? pause : runtime::span(10ms));
    const limit nearer(std::min(l.at(), next), l.stop());
    const wake why = co_await wait(i, me->told, nearer);
    me->over = true;
    co_return why == wake::late&& next < l.at() ? wake::signalled : why;
  }

 private:
  number_server& server_;
  client_io& loop_;
  const std::string name_;
};

std::unique_ptr<storage::cell> number_server::open(client_io& loop, std::string name) {
  return std::make_unique<remote>(*this, loop, std::move(name));
}

std::int64_t number_server::now() const noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock_.now().time_since_epoch()).count();
}

reading number_server::look(const std::string& name) { return read_cell(named_[name].record, now()); }

answer<std::uint64_t> number_server::put(const std::string& name, std::uint64_t seen, const storage::change& wanted) {
  entry& e = named_[name];
  storage::put_result result = put_cell(e.record, seen, wanted, now());
  world_.note("put", seen, result.made ? 1 : 0);
  if (result.made) {
    if (!e.made.emplace(wanted.id.high, wanted.id.low).second) world_.violate("I13: a change was made twice");
    const bool announces = name.starts_with("election/") && wanted.ttl > 0ms;
    if (announces && wanted.number < e.highest) world_.violate("I14: an older leader stands where a newer one stood");
    if (announces) e.highest = wanted.number;
  }
  if (result.tell) {
    for (const auto& told : std::exchange(e.watchers, {})) {
      network_.send([] { return true; },
                    [loop = std::get<0>(told), who = std::get<1>(told)] {
                      loop->post([who] {
                        if (!who->over) who->told.set();
                      });
                    });
    }
  }
  return std::move(result.said);
}

bool number_server::watch(const std::string& name, const reading& seen, client_io& loop, std::shared_ptr<watcher> who) {
  entry& e = named_[name];
  if (has_changed(e.record, seen, now())) return false;
  e.watchers.emplace_back(&loop, std::move(who));
  return true;
}

}  // namespace holdfast::sim
