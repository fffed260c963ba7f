// A holder hangs. An operator finds it and breaks its lock, and the fence keeps the old holder out.
#include <holdfast/holdfast.hpp>

#include <iostream>
#include <string>

int main() {
  holdfast::store store = holdfast::open("memory:");
  holdfast::fence_gate orders;  // what the lock protects
  const holdfast::lease hangs = store.acquire("orders/7", {.label = "worker-3"});
  // [list]
  std::string after;
  do {
    const holdfast::listing page = store.list("orders/", after);
    for (const holdfast::listing::entry& each : page.names) {
      std::cout << each.name << ": " << each.now.holding << " hold it, " << each.now.waiting << " wait\n";
    }
    after = page.next;
  } while (!after.empty());
  // [/list]
  // [break]
  const holdfast::state::holder who = store.inspect("orders/7").holders.at(0);
  const bool taken = store.break_lock("orders/7", who.fence, who.label + " hangs");
  // [/break]
  const holdfast::lease next = store.acquire("orders/7");
  const bool new_one = orders.admit(next.fence());
  const bool old_one = orders.admit(hangs.fence());  // it woke up and still believes that it holds the lock
  std::cout << store.inspect("orders/7").broken->by << " has broken it\n";
  return taken && new_one && !old_one ? 0 : 1;
}
