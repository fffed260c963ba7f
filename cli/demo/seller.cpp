#include "demo/seller.hpp"

#include <holdfast/holdfast.hpp>
#include <optional>
#include <thread>

#include "demo/office.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto a_sale_takes = 2ms;  // the customer pays, the ticket is printed

/// False: all is sold, or the office refused.
bool one_sale(const seller_rules& mine, ticket_office& office, std::uint64_t fence, stage& all) {
  const int sold = office.sold(fence);
  if (sold < 0 || sold >= office.seats()) return false;
  if (all.shall_freeze == mine.number) {
    all.frozen_fence = fence;
    all.frozen = mine.number;
    while (!all.thaw) std::this_thread::sleep_for(1ms);
    all.shall_freeze = stage::nobody;
  } else {
    std::this_thread::sleep_for(a_sale_takes);
  }
  if (!office.sell(sold + 1, mine.number, fence)) {
    ++all.refused;
    return false;
  }
  ++all.sold;
  return true;
}

}  // namespace

int sell_tickets(const seller_rules& mine, stage& all) {
  try {
    ticket_office office(mine.office);
    if (mine.store.empty()) {
      while (one_sale(mine, office, 0, all)) {
      }
      return 0;
    }
    store locks = open(mine.store);
    const lock_options how{
        .ttl = mine.fixed ? 1s : ttl_of_a_seller, .renew = !mine.fixed, .label = "a seller of train 001"};
    for (bool more = true; more;) {
      const lease held = locks.acquire(mine.lock, how);
      if (const std::int64_t now = boot_clock::now().time_since_epoch().count(); all.killed != 0 && now > all.killed) {
        std::int64_t none = 0;
        all.first_grant_after.compare_exchange_strong(none, now);
      }
      all.last_fence = held.fence();
      more = one_sale(mine, office, held.fence(), all);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "seller %d: %s\n", mine.number, e.what());
    ++all.failed;
    return 1;
  }
}

}  // namespace holdfast::cli
