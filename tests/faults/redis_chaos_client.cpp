// One client of the chaos test: takes the lock, adds one to a counter some times, and gives it back, until it is told
// to end. The counter is behind the socket that is its stdin. usage: redis_chaos_client URL
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "faults/redis_chaos.hpp"
#include "holdfast/holdfast.hpp"

namespace {

using namespace std::chrono_literals;
using namespace holdfast;
using faults::chaos_reply;
using faults::chaos_request;

chaos_reply ask(const chaos_request& what) {
  chaos_reply r;
  if (::send(0, &what, sizeof what, MSG_NOSIGNAL) != sizeof what || ::recv(0, &r, sizeof r, 0) != sizeof r) {
    std::_Exit(0);  // the test is over
  }
  return r;
}

chaos_reply ask(chaos_request::kind what, const lease& l, std::int64_t value = 0) {
  return ask({what, l.fence(), l.deadline().time_since_epoch().count(), value});
}

void add_some(const lease& held) {
  (void)ask(chaos_request::enter, held);
  for (int n = 0; n < 3 && held.held(); ++n) {
    const chaos_reply seen = ask(chaos_request::read, held);
    if (!seen.yes) break;
    std::this_thread::sleep_for(1ms);
    if (!ask(chaos_request::write, held, seen.value + 1).yes) break;
  }
  (void)ask(chaos_request::leave, held);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    store locks = open(argv[1], {.patience = 2s});
    while (ask(chaos_request{}).yes) {
      std::error_code why;
      const std::optional<lease> held = locks.try_acquire("chaos", within(2s), {.ttl = 400ms}, why);
      if (held) add_some(*held);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "redis_chaos_client: %s\n", e.what());
    return 1;
  }
}
