// One client of a store, in a process of its own: it does what a test tells it over the socket that is its stdin.
// usage: claim_server URL
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "conformance/wire.hpp"
#include "directory/client.hpp"
#include "redis/lock/client.hpp"
#include "runtime/inline_io.hpp"
#include "runtime/queue_thread.hpp"

namespace holdfast::conformance {
namespace {

std::unique_ptr<storage::backend> opened(const std::string& url, runtime::loop& loop) {
  constexpr std::string_view directory = "dir:";
  if (url.starts_with(directory)) return std::make_unique<directory::client>(url.substr(directory.size()), loop);
  return redis::client::open(url, loop);
}

class claim_server : private storage::backend_events {
 public:
  explicit claim_server(const std::string& url) : client_(opened(url, loop_)) {
    client_->start(*this);
    loop_.start();
  }
  ~claim_server() override {
    stop_all();
    claims_.clear();
    cells_.clear();
    client_->close();
    loop_.stop();
  }

  void serve() {
    std::string text;
    while (const auto o = receive<order_message>(0, text)) {
      if (o->what == request_kind::cut) {
        cut(o->call);
      } else if (o->what == request_kind::open) {
        open(*o, text);
      } else if (o->what == request_kind::open_cell) {
        auto s = std::make_unique<served_cell>();
        s->cell = client_->open_cell(text);
        cells_.emplace(o->claim, std::move(s));
      } else if (o->what == request_kind::close_cell) {
        cells_.erase(o->claim);
      } else if (o->what == request_kind::get || o->what == request_kind::put || o->what == request_kind::changed) {
        served_cell& s = *cells_.at(o->claim);
        const std::stop_token stop = begin(o->call);
        s.worker.post([this, &s, stop, order = *o, note = text] { carry_out(*s.cell, stop, order, note); });
      } else if (o->what == request_kind::resize || o->what == request_kind::inspect ||
                 o->what == request_kind::revoke || o->what == request_kind::list ||
                 o->what == request_kind::break_lock) {
        const std::stop_token stop = begin(o->call);
        without_claim_.post([this, stop, order = *o, words = text] { carry_out(stop, order, words); });
      } else if (o->what == request_kind::close) {
        claims_.erase(o->claim);
      } else {
        served& s = *claims_.at(o->claim);
        const std::stop_token stop = begin(o->call);
        s.worker.post([this, &s, stop, order = *o] { carry_out(s, stop, order); });
      }
    }
  }

 private:
  void revoke_requested(storage::revoke_request what) noexcept override {
    reply_message r{.what = reply::asked, .fence = what.fence, .owner = {what.owner.high, what.owner.low}};
    r.there = what.broken;
    (void)send(0, r, what.reason);
  }

  struct served {
    std::unique_ptr<storage::claim> claim;
    runtime::queue_thread worker{"claim"};  // one call at a time, and all before the claim goes
  };

  struct served_cell {
    std::unique_ptr<storage::cell> cell;
    runtime::queue_thread worker{"cell"};
  };

  void open(const order_message& o, const std::string& text) {
    storage::claim_spec spec{.name = text.substr(0, o.name),
                             .owner = {o.owner[0], o.owner[1]},
                             .wants = {o.part, o.whole},
                             .ttl = std::chrono::milliseconds(o.ttl),
                             .delay = std::chrono::milliseconds(o.delay),
                             .fixed = o.fixed,
                             .queue = o.queue,
                             .barges = o.barges,
                             .label = text.substr(o.name)};
    auto s = std::make_unique<served>();
    s->claim = client_->open(std::move(spec));
    claims_.emplace(o.claim, std::move(s));
  }

  std::stop_token begin(std::uint64_t call) {
    const std::lock_guard lock(mutex_);
    return under_way_[call].get_token();
  }
  void cut(std::uint64_t call) {
    const std::lock_guard lock(mutex_);
    if (const auto at = under_way_.find(call); at != under_way_.end()) at->second.request_stop();
  }
  void stop_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [call, stop] : under_way_) stop.request_stop();
  }

  template <class T>
  static reply_message reply_to(const order_message& o, storage::answer<T>& answer, std::string& text) {
    reply_message r{.what = answer.is_yes() ? reply::yes : answer.is_no() ? reply::no : reply::unknown, .call = o.call};
    if (answer.is_no()) text = answer.who().holder;
    if (answer.is_unknown()) {
      r.code = static_cast<int>(answer.why().code);
      r.is_late = answer.why().is_late;
      text = answer.why().text;
    }
    return r;
  }

  void carry_out(served& s, const std::stop_token& stop, const order_message& o) {
    runtime::inline_io here;
    const limit until(runtime::instant(std::chrono::nanoseconds(o.until)), stop);
    reply_message r;
    std::string text;
    if (o.what == request_kind::poll) {
      storage::answer<storage::grant> answer = run_inline(s.claim->poll(here, until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) {
        r.fence = answer.value().fence;
        r.fences = answer.value().fences;
        r.until = answer.value().deadline.time_since_epoch().count();
      }
    } else if (o.what == request_kind::wakeup) {
      const runtime::wake why = run_inline(s.claim->wakeup(here, until));
      r = {.what = reply::woken, .call = o.call, .code = static_cast<int>(why)};
    } else if (o.what == request_kind::renew) {
      storage::answer<runtime::instant> answer =
          run_inline(s.claim->renew(here, std::chrono::milliseconds(o.ttl), until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) r.until = answer.value().time_since_epoch().count();
    } else if (o.what == request_kind::downgrade) {
      storage::answer<runtime::instant> answer =
          run_inline(s.claim->downgrade(here, o.fence, std::chrono::milliseconds(o.ttl), until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) r.until = answer.value().time_since_epoch().count();
    } else {
      storage::answer<storage::done> answer = run_inline(s.claim->release(here, until));
      r = reply_to(o, answer, text);
    }
    end(o.call, r, text);
  }

  void carry_out(storage::cell& c, const std::stop_token& stop, const order_message& o, const std::string& note) {
    runtime::inline_io here;
    const limit until(runtime::instant(std::chrono::nanoseconds(o.until)), stop);
    const std::chrono::milliseconds ttl(o.ttl);
    reply_message r;
    std::string text;
    if (o.what == request_kind::get) {
      storage::answer<storage::reading> answer = run_inline(c.get(here, until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) {
        const storage::reading& is = answer.value();
        r.version = is.version;
        r.there = is.there;
        r.number = is.number;
        r.left = is.left.count();
        text = is.note;
      }
    } else if (o.what == request_kind::put) {
      const storage::change wanted{{o.owner[0], o.owner[1]}, o.number, note, ttl, o.again};
      storage::answer<std::uint64_t> answer = run_inline(c.put(here, o.version, wanted, until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) r.version = answer.value();
    } else {
      const storage::reading seen{o.version, o.there, o.number, note, ttl};
      const runtime::wake why = run_inline(c.changed(here, seen, until));
      r = {.what = reply::woken, .call = o.call, .code = static_cast<int>(why)};
    }
    end(o.call, r, text);
  }

  /// What belongs to no claim.
  void carry_out(const std::stop_token& stop, const order_message& o, const std::string& words) {
    runtime::inline_io here;
    const limit until(runtime::instant(std::chrono::nanoseconds(o.until)), stop);
    reply_message r;
    std::string text;
    if (o.what == request_kind::inspect) {
      storage::answer<state> answer = run_inline(client_->admin().inspect(here, words, until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) text = packing::packed(answer.value());
    } else if (o.what == request_kind::revoke) {
      const std::string name = words.substr(0, o.name), reason = words.substr(o.name);
      storage::answer<storage::done> answer = run_inline(client_->admin().revoke(here, name, reason, o.fence, until));
      r = reply_to(o, answer, text);
    } else if (o.what == request_kind::list) {
      const std::string prefix = words.substr(0, o.name), after = words.substr(o.name);
      storage::answer<listing> answer = run_inline(client_->admin().list(here, prefix, after, o.number, until));
      r = reply_to(o, answer, text);
      if (answer.is_yes()) text = packing::packed(answer.value());
    } else if (o.what == request_kind::break_lock) {
      storage::break_request what{
          .id = {o.owner[0], o.owner[1]}, .name = words.substr(0, o.name), .fence = o.fence, .owner = {}};
      if (o.there) what.owner = storage::owner_id{o.only[0], o.only[1]};
      what.reason = words.substr(o.name);
      storage::answer<storage::done> answer = run_inline(client_->admin().break_lock(here, what, until));
      r = reply_to(o, answer, text);
    } else {
      storage::answer<storage::done> answer = run_inline(client_->admin().resize(here, words, o.whole, until));
      r = reply_to(o, answer, text);
    }
    end(o.call, r, text);
  }

  void end(std::uint64_t call, const reply_message& r, const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      under_way_.erase(call);
    }
    (void)send(0, r, text);  // a test that is gone hears nothing
  }

  runtime::loop loop_;
  const std::unique_ptr<storage::backend> client_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::stop_source> under_way_;
  std::map<std::uint64_t, std::unique_ptr<served>> claims_;
  std::map<std::uint64_t, std::unique_ptr<served_cell>> cells_;
  runtime::queue_thread without_claim_{"no claim"};
};

}  // namespace
}  // namespace holdfast::conformance

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    holdfast::conformance::claim_server server(argv[1]);
    const char ready = '!';
    if (::write(1, &ready, 1) != 1) return 1;
    server.serve();
  } catch (const holdfast::storage::failure& why) {
    std::fprintf(stderr, "claim_server: %s\n", why.text.c_str());
    return 1;
  }
}
