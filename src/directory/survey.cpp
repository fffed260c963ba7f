#include "directory/survey.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <fstream>
#include <utility>

#include "directory/gathering.hpp"
#include "runtime/clock.hpp"
#include "storage/state.hpp"

namespace holdfast::directory {

namespace {

/// What the kernel knows of a process, asked once for each session.
class passports {
 public:
  passports(places& rows, std::int64_t pid_namespace) : rows_(rows), own_(pid_namespace) {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    host_ = host;
  }
  void show(session_id of, state::party& who) {
    auto at = known_.find(of);
    if (at == known_.end()) at = known_.emplace(of, look_up(of)).first;
    who.host = host_;
    who.pid = at->second.pid;
    who.program = at->second.program;
  }

 private:
  struct passport {
    std::int64_t pid = 0;
    std::string program{};
  };
  [[nodiscard]] passport look_up(session_id of) {
    const process is = rows_.process_of(of);
    if (is.pid_namespace != own_) return {};  // its number means another process here
    std::ifstream comm("/proc/" + std::to_string(is.pid) + "/comm");
    std::string program;
    std::getline(comm, program);
    return {is.pid, program};
  }
  places& rows_;
  const std::int64_t own_;
  std::string host_;
  std::map<session_id, passport> known_;
};

void describe(state::party& who, const places::row& r) {
  storage::describe(who, std::bit_cast<storage::owner_id>(r.owner), {r.part, r.whole}, r.label);
}

/// Fences and tickets are never below the clock.
std::chrono::system_clock::time_point since(std::int64_t microseconds) {
  return std::chrono::system_clock::time_point(std::chrono::microseconds(microseconds));
}

}  // namespace

survey::survey(places& rows, const sessions& alive, const std::string& name)
    : rows_(rows), now_(boot_clock::now().time_since_epoch().count()) {
  std::map<session_id, bool> lives;
  for (places::row& each : rows.all_at(name)) {
    auto at = lives.find(each.session);
    if (at == lives.end()) at = lives.emplace(each.session, alive.alive(each.session)).first;
    if (!at->second) continue;
    if (each.held == 0) {
      waiters_.push_back(std::move(each));
    } else if (each.expires > now_) {
      holders_.push_back(std::move(each));
    }
  }
}

state survey::as_state(std::int64_t pid_namespace, const bounds& listed) const {
  passports known(rows_, pid_namespace);
  const auto today = std::chrono::system_clock::now();
  state is;
  is.holding = holders_.size();
  is.waiting = waiters_.size();
  if (!waiters_.empty()) is.waiting_since = std::min(today, since(waiters_.front().ticket));
  const std::vector<places::row>& any = holders_.empty() ? waiters_ : holders_;
  if (!any.empty() && any.front().whole != storage::share::lock) is.permits = any.front().whole;
  for (std::size_t n = 0; n < std::min(holders_.size(), listed.holders); ++n) {
    const places::row& each = holders_[n];
    state::holder& who = is.holders.emplace_back();
    describe(who, each);
    known.show(each.session, who);
    who.fence = each.fence;
    who.since = std::min(today, since(static_cast<std::int64_t>(each.fence)));
    if (each.expires < for_ever) {
      who.left = std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds(each.expires - now_));
    }
  }
  for (std::size_t n = 0; n < std::min(waiters_.size(), listed.waiters); ++n) {
    state::party& who = is.waiters.emplace_back();
    describe(who, waiters_[n]);
    known.show(waiters_[n].session, who);
  }
  return is;
}

claims_by_session survey::holders_with(std::uint64_t fence) const {
  claims_by_session those;
  for (const places::row& each : holders_) {
    const bool meant = fence >= each.fence && fence - each.fence < fences_of({each.part, each.whole});
    if (fence == 0 || meant) those[each.session].push_back(each.owner);
  }
  return those;
}

}  // namespace holdfast::directory
