// Every host starts the job each minute, by its own clock; one of them runs it.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <vector>

using namespace std::chrono_literals;

// [cron]
/// What each host's cron starts every minute. The lease is fixed: for longer than the hosts' clocks differ, and over
/// before the next minute. It is kept when the job is done, for a host whose clock is behind is still to come; and a
/// job that takes too long hears of its end by the lost_token, and does not run into the next one.
std::optional<holdfast::lease> every_minute(holdfast::store store, int& reports) {
  std::optional<holdfast::lease> turn = store.try_acquire("report", {.ttl = 50s, .renew = false});
  if (turn) ++reports;  // the job
  return turn;          // empty: another host's
}
// [/cron]

int main() {
  int reports = 0;
  std::vector<holdfast::store> hosts;
  for (int n = 0; n < 3; ++n) hosts.push_back(holdfast::open("memory:cron"));
  for (int minute = 1; minute <= 2; ++minute) {
    std::vector<std::optional<holdfast::lease>> kept;
    for (const holdfast::store& host : hosts) kept.push_back(every_minute(host, reports));
    if (reports != minute) return 1;
  }  // here the leases go: as if the 50 s were over
  std::cout << reports << " reports in two minutes, by three hosts\n";
}
