#include "quorum/server_set.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::quorum {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::later;
using runtime::span;
using storage::answer;
using storage::done;
using storage::failure;
using storage::task;

namespace {

constexpr span longest_connect = 2s;

}  // namespace

server_set::server_set(std::vector<std::unique_ptr<storage::voter>> voters, runtime::io& loop)
    : loop_(loop), voters_(std::move(voters)), tasks_(loop) {}

task<answer<done>> server_set::reach(std::size_t who, limit l) {
  const std::optional<failure> why = co_await voters_[who]->reach(loop_, l);
  if (why) co_return answer<done>::unknown(*why);
  co_return answer<done>::yes(done());
}

task<std::optional<failure>> server_set::reach_majority(std::size_t min_margin, limit l) {
  const auto reached = [](const auto& v) { return v->is_reached(); };
  const auto already = static_cast<std::size_t>(std::count_if(voters_.begin(), voters_.end(), reached));
  if (already >= majority() + min_margin) co_return std::nullopt;
  const instant enough = std::min(l.at(), later(loop_.now(), longest_connect));
  const limit each = until(enough);
  const round_ptr<done> all = ask_all<done>([&](std::size_t who) { return reach(who, each); }, min_margin);
  const verdict so = co_await all->settle(loop_, of_election, l);
  if (so == verdict::yes) co_return std::nullopt;
  const verdict without_margin =
      co_await all->settle(loop_, of_step, l);  // too small a margin is reported after the vote
  if (without_margin == verdict::yes) co_return std::nullopt;
  co_return why_not(*all, "no majority of the servers can be reached");
}

void server_set::close() noexcept {
  ending_.request_stop();
  tasks_.wait_until_empty();
}

}  // namespace holdfast::quorum
