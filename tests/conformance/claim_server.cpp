// One client of a store, in a process of its own: it does what a test tells it over the socket that is its stdin.
// usage: claim_server URL
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

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
    targets_.emplace(0, std::make_unique<target>());
    client_->start(*this);
    loop_.start();
  }
  ~claim_server() override {
    stop_all();
    targets_.clear();
    client_->close();
    loop_.stop();
  }

  void serve() {
    while (std::optional<unpacker> in = receive(0)) {
      const request r = std::get<0>(in->take<request>());
      if (r.what == request_kind::open || r.what == request_kind::open_cell) {
        auto made = std::make_unique<target>();
        if (r.what == request_kind::open) {
          made->claim = client_->open(std::get<0>(in->take<storage::claim_spec>()));
        } else {
          made->cell = client_->open_cell(std::get<0>(in->take<std::string>()));
        }
        targets_.emplace(r.target, std::move(made));
      } else if (r.what == request_kind::close) {
        targets_.erase(r.target);
      } else if (r.what == request_kind::cut) {
        cut(r.call);
      } else {
        target& on = *targets_.at(r.target);
        const std::stop_token stop = begin(r.call);
        on.worker.post([this, &on, r, stop, arguments = std::move(*in)] { carry_out(on, r, stop, arguments); });
      }
    }
  }

 private:
  /// A claim, a cell, or the store itself.
  struct target {
    std::unique_ptr<storage::claim> claim;
    std::unique_ptr<storage::cell> cell;
    runtime::queue_thread worker{"target"};  // makes one call at a time, and ends before the claim does
  };

  void revoke_requested(storage::revoke_request what) noexcept override { (void)send(0, packed(reply(), what)); }

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

  void carry_out(target& on, const request& r, const std::stop_token& stop, unpacker in) {
    const limit until(r.until, stop);
    packer out;
    out(reply{.call = r.call});
    if (on.claim) {
      call_claim(*on.claim, r.what, in, until, out);
    } else if (on.cell) {
      call_cell(*on.cell, r.what, in, until, out);
    } else {
      call_store(r.what, in, until, out);
    }
    {
      const std::lock_guard lock(mutex_);
      under_way_.erase(r.call);
    }
    (void)send(0, out.bytes);  // fails if the test is gone
  }

  static void call_claim(storage::claim& c, request_kind what, unpacker& in, const limit& until, packer& out) {
    runtime::inline_io here;
    if (what == request_kind::poll) return out.answer(run_inline(c.poll(here, until)));
    if (what == request_kind::wakeup) return out(run_inline(c.wakeup(here, until)));
    if (what == request_kind::release) return out.answer(run_inline(c.release(here, until)));
    if (what == request_kind::renew) {
      const auto [ttl] = in.take<storage::milliseconds>();
      return out.answer(run_inline(c.renew(here, ttl, until)));
    }
    const auto [fence, ttl] = in.take<std::uint64_t, storage::milliseconds>();
    out.answer(run_inline(c.downgrade(here, fence, ttl, until)));
  }

  static void call_cell(storage::cell& c, request_kind what, unpacker& in, const limit& until, packer& out) {
    runtime::inline_io here;
    if (what == request_kind::get) return out.answer(run_inline(c.get(here, until)));
    if (what == request_kind::put) {
      const auto [seen, wanted] = in.take<std::uint64_t, storage::change>();
      return out.answer(run_inline(c.put(here, seen, wanted, until)));
    }
    const auto [seen] = in.take<storage::reading>();
    out(run_inline(c.changed(here, seen, until)));
  }

  void call_store(request_kind what, unpacker& in, const limit& until, packer& out) {
    runtime::inline_io here;
    storage::admin& store = client_->admin();
    if (what == request_kind::inspect) {
      const auto [name] = in.take<std::string>();
      return out.answer(run_inline(store.inspect(here, name, until)));
    }
    if (what == request_kind::list) {
      const auto [prefix, after, most] = in.take<std::string, std::string, std::size_t>();
      return out.answer(run_inline(store.list(here, prefix, after, most, until)));
    }
    if (what == request_kind::revoke) {
      const auto [name, reason, fence] = in.take<std::string, std::string, std::uint64_t>();
      return out.answer(run_inline(store.revoke(here, name, reason, fence, until)));
    }
    if (what == request_kind::break_lock) {
      const auto [order] = in.take<storage::break_request>();
      return out.answer(run_inline(store.break_lock(here, order, until)));
    }
    const auto [name, whole] = in.take<std::string, std::uint32_t>();
    out.answer(run_inline(store.resize(here, name, whole, until)));
  }

  runtime::loop loop_;
  const std::unique_ptr<storage::backend> client_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::stop_source> under_way_;
  std::map<std::uint64_t, std::unique_ptr<target>> targets_;
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
