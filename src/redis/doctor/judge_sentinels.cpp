#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "redis/doctor/judgement.hpp"

namespace holdfast::redis {

namespace {

constexpr std::int64_t min_sentinels = 3;  // of two, the one that is left cannot be a majority

void judge_number(std::int64_t all, std::int64_t quorum, std::int64_t in_the_url, storage::findings& found) {
  const std::string id = "redis.sentinels";
  if (quorum > all) {
    return found.danger(
        id, "The quorum is " + std::to_string(quorum) + ", and there are " + std::to_string(all) + " sentinels.",
        "They never agree that the primary is gone: when it dies, nobody takes over.",
        "SENTINEL SET <service> quorum " + std::to_string(all / 2 + 1) + ", at each of them");
  }
  if (all < min_sentinels) {
    return found.warning(id,
                         "There are " + std::to_string(all) +
                             " sentinels, and it takes more than half of them to "
                             "change the primary.",
                         "If one of them is lost, with the primary's machine, say, nobody takes over.",
                         "Run three at least, on three machines, and name them in the URL");
  }
  if (in_the_url < all) {
    return found.note(id, "The URL names " + std::to_string(in_the_url) + " of " + std::to_string(all) + " sentinels.",
                      "A failover that another one carries out is followed about a second later; and when those are "
                      "gone no connection can be opened, whatever the others know.",
                      "Name all of them: redis+sentinel://s1,s2,s3/service");
  }
  found.fine(id, "There are " + std::to_string(all) + " sentinels, and " + std::to_string(quorum) +
                     " of them say together that a primary is gone.");
}

}  // namespace

void judge_sentinels(const std::vector<sentinel_view>& all, std::string_view user, storage::findings& found) {
  std::string silent, told, deaf;
  std::set<std::string> primaries;
  std::int64_t known = 0, quorum = 0;
  for (const sentinel_view& each : all) {
    if (!each.why.empty()) {
      silent.append(silent.empty() ? "" : "; ").append(each.from).append(": ").append(each.why);
      continue;
    }
    if (!each.deaf.empty()) deaf.append(deaf.empty() ? "" : "; ").append(each.from).append(": ").append(each.deaf);
    known = std::max(known, each.others + 1);
    quorum = std::max(quorum, each.quorum);
    primaries.insert(each.primary);
    told.append(told.empty() ? "" : "; ").append(each.from).append(" says ").append(each.primary);
  }
  if (!silent.empty()) {
    found.warning("redis.sentinel_silent", "Not every sentinel of the URL answers: " + silent + ".",
                  "There is one fewer to find the primary by, and perhaps to change it.",
                  "Start it again, or mend the URL");
  }
  if (primaries.size() > 1) {
    found.danger("redis.sentinel_views", "The sentinels do not agree on who is the primary: " + told + ".",
                 "Two servers may take locks: whoever asks one of them and whoever asks the other hold at once.",
                 "Unless a failover is under way just now: look at the network between them; SENTINEL RESET <service> "
                 "at the one that is wrong");
  } else if (primaries.size() == 1) {
    found.fine("redis.sentinel_views", "The sentinels agree that " + *primaries.begin() + " is the primary.");
  }
  if (!deaf.empty()) {
    found.warning("redis.sentinel_channels",
                  "The user may not subscribe to the channels of the sentinels: " + deaf + ".",
                  "A failover is noticed by asking them only, which is seconds later: leases that are lost by it are "
                  "reported later, and locks are asked for at the old primary until then.",
                  "ACL SETUSER " + std::string(user) +
                      " '&+selected-slave' '&+promoted-slave' '&+switch-master' +subscribe, at each sentinel");
  } else if (known > 0) {
    found.fine("redis.sentinel_channels", "The user may subscribe to the channels of the sentinels.");
  }
  if (known > 0) judge_number(known, quorum, std::ssize(all), found);
}

}  // namespace holdfast::redis
