// Every host starts the job each minute by its own clock, and one of them runs it.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <vector>

using namespace std::chrono_literals;

// [cron]
/// Started by cron on each host every minute. The fixed lease is longer than the difference of the hosts' clocks and
/// ends before the next minute. It is kept after the job, because a host whose clock is behind starts later. A job that
/// takes too long is notified by its lost_token before the next one starts.
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
