#include <poll.h>

#include <algorithm>
#include <array>
#include <holdfast/holdfast.hpp>
#include <memory>

#include "bench.hpp"
#include "redis_server.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t servers = 5, majority = 3;

/// A bare socket to each server. Requests go to all servers and wait for a majority; late replies are read later.
class fan_out {
 public:
  explicit fan_out(const std::array<redis_server, servers>& all) {
    const std::string k = "holdfast:{bare}";
    const std::string owner = "AAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBB-1", waiter = "AAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBB-0";
    for (std::size_t n = 0; n < servers; ++n) {
      sockets_[n] = std::make_unique<bare_socket>(all[n].port());
      const auto sum = [&](const char* script) { return load_script(*sockets_[n], script_text(script)); };
      take_ = resp({"EVALSHA", sum("vote"), "3", k, k + ":f", k + ":q", owner, "10000", "0", waiter, "0"});
      give_ = resp({"EVALSHA", sum("withdraw"), "2", k, k + ":q", owner, waiter, "holdfast:in:"});
    }
  }
  void pair() {
    ask(take_);
    ask(give_);
  }

 private:
  void ask(const std::string& request) {
    for (std::size_t n = 0; n < servers; ++n) {
      sockets_[n]->send(request);
      ++due_[n];
    }
    while (static_cast<std::size_t>(std::ranges::count(due_, 0)) < majority) receive();
  }
  void receive() {
    std::array<pollfd, servers> wanted{};
    for (std::size_t n = 0; n < servers; ++n) wanted[n] = {due_[n] > 0 ? sockets_[n]->fd() : -1, POLLIN, 0};
    ::poll(wanted.data(), wanted.size(), -1);
    for (std::size_t n = 0; n < servers; ++n) {
      if ((wanted[n].revents & POLLIN) == 0) continue;
      const std::string came = sockets_[n]->receive();
      due_[n] -= static_cast<int>(std::ranges::count(came, '\n'));  // each reply is a number on one line
    }
  }
  std::array<std::unique_ptr<bare_socket>, servers> sockets_;
  std::array<int, servers> due_{};
  std::string take_, give_;
};

}  // namespace

void redlock(std::vector<figure>& all) {
  const std::array<redis_server, servers> started;
  std::string url = "redlock://";
  for (const redis_server& each : started) {
    url.append(url.ends_with('/') ? "" : ",").append("127.0.0.1:").append(std::to_string(each.port()));
  }
  holdfast::store store = holdfast::open(url + "?young_nodes=vote");
  fan_out bare(started);
  const auto ours = [&] { const holdfast::lease held = store.acquire("ours"); };
  const auto theirs = [&] { bare.pair(); };
  ours();
  theirs();
  std::vector<double> library, sockets, ratios;
  for (int slice = 0; slice < 15; ++slice) {
    library.push_back(nanoseconds_each(ours, 200ms));
    sockets.push_back(nanoseconds_each(theirs, 200ms));
    ratios.push_back(library.back() / sockets.back());
  }
  all.push_back({"redlock, 5 servers, acquire+release of a lease", median(library) / 1e3, "us"});
  all.push_back({"redlock, 5 servers, bare sockets that wait for 3, the same scripts", median(sockets) / 1e3, "us"});
  const double ratio = median(ratios);
  all.push_back({"redlock, 5 servers, time, ratio", ratio, "x", "at most 1.25", ratio <= 1.25});
}

}  // namespace bench
