#include <algorithm>
#include <string>

#include "redis/doctor/judgement.hpp"

namespace holdfast::redis {

namespace {

constexpr const char* forgets =
    " Who holds such a lock hears of it as soon as it is connected again, and until then another may have it, too.";

/// INFO says it as well, to those who may not ask for the settings.
std::string_view known_of(const self_portrait& is, std::string_view in_config, std::string_view in_info) {
  if (is.config && is.config->find(in_config)) return is.config->text(in_config);
  return is.info.text(in_info);
}

bool writes_at_once(const self_portrait& is) {
  return is.config && is.config->text("appendonly") == "yes" && is.config->text("appendfsync") == "always";
}

}  // namespace

void judge_eviction(const self_portrait& is, storage::findings& found) {
  const std::string id = "redis.eviction";
  const std::string cure = "CONFIG SET maxmemory-policy noeviction (and in redis.conf)";
  const std::string policy(known_of(is, "maxmemory-policy", "maxmemory_policy"));
  const std::optional<std::int64_t> most = number_of(known_of(is, "maxmemory", "maxmemory"));
  if (policy.empty() || !most) return;
  if (policy == "noeviction") return found.fine(id, "No key is evicted (maxmemory-policy noeviction).");
  if (*most == 0) {
    return found.note(id, "maxmemory-policy is " + policy + ", and takes effect as soon as maxmemory is set.",
                      "From then on a server that is full throws locks away that are held.", cure);
  }
  const std::string whose = policy.starts_with("volatile-") ? "keys that have a ttl, and those are the locks"
                                                            : "any key, also a lock that is held, and its last fence";
  found.danger(id, "A server that is full evicts " + whose + " (maxmemory-policy " + policy + ").",
               "A lock that is evicted is lost: another gets it while its holder works, which hears of it at its next "
               "renewal.",
               cure);
}

void judge_memory(const self_portrait& is, storage::findings& found) {
  const std::int64_t most = number_of(known_of(is, "maxmemory", "maxmemory")).value_or(0);
  const std::optional<std::int64_t> used = is.info.number("used_memory");
  if (!used || *used < 0) return;
  if (most <= 0) return found.fine("redis.memory", "The server has no bound of memory (maxmemory 0).");
  const double share = std::min(100 * static_cast<double>(*used) / static_cast<double>(most), 999.0);
  const std::string what =
      "The server uses " + std::to_string(static_cast<int>(share)) + " % of the memory that it may (maxmemory).";
  if (*used / 9 < most / 10) return found.fine("redis.memory", what);
  found.warning("redis.memory", what,
                "A full server refuses new locks (OOM); those that are held can be renewed, released and handed on.",
                "CONFIG SET maxmemory to more (and in redis.conf), or give locks a server of their own");
}

void judge_persistence(const self_portrait& is, storage::findings& found) {
  const std::string id = "redis.persistence";
  const std::string to_always = "CONFIG SET appendfsync always (and in redis.conf)";
  const std::string to_log =
      "CONFIG SET appendonly yes (and in redis.conf), and appendfsync always if no confirmed "
      "lock may be forgotten";
  const std::string logs(known_of(is, "appendonly", "aof_enabled"));
  if (logs.empty()) return;
  if (is.votes_after && !writes_at_once(is)) {
    return found.fine(
        id, "A restart may forget locks; the server does not vote again before all of them are over (max_ttl).");
  }
  if (logs == "yes" || logs == "1") {
    const std::string_view sync = is.config ? is.config->text("appendfsync") : std::string_view();
    if (sync == "always") {
      found.fine(id, "A write is on the disk before it is confirmed (appendfsync always).");
    } else if (sync == "everysec") {
      found.note(id, "The log reaches the disk once a second (appendfsync everysec).",
                 std::string("After a loss of power the locks of the last second are forgotten.") + forgets,
                 to_always + ", if no confirmed lock may be forgotten");
    } else if (sync.empty()) {
      found.note(id, "The server keeps a log; when that reaches the disk could not be looked at.",
                 std::string("Without appendfsync always a loss of power forgets the last locks.") + forgets,
                 to_always + ", if no confirmed lock may be forgotten");
    } else {
      found.warning(
          id, "The log reaches the disk when the system likes (appendfsync " + std::string(sync) + ").",
          std::string("After a loss of power the locks of the last half minute or so are forgotten.") + forgets,
          to_always);
    }
    return;
  }
  const bool in_memory_only = is.config && is.config->text("save").empty();
  found.warning(id,
                in_memory_only ? "The server keeps its data in memory only (appendonly no, and no save)."
                               : "The server keeps snapshots at most, and no log (appendonly no).",
                std::string(in_memory_only ? "A restart forgets every lock."
                                           : "A restart forgets every lock that was taken since the last snapshot.") +
                    forgets,
                to_log);
}

/// The rule is that of voter::come_of_age().
void judge_age(const self_portrait& is, storage::findings& found) {
  const std::string id = "redlock.age";
  const std::optional<std::int64_t> up = is.info.number("uptime_in_seconds");
  if (!is.votes_after || !up || *up < 0) return;
  if (writes_at_once(is))
    return found.fine(id, "The server votes at any age: it keeps every vote (appendfsync always).");
  const std::int64_t votes = std::chrono::ceil<std::chrono::seconds>(*is.votes_after).count() + 1;
  if (*up >= votes)
    return found.fine(id, "The server has been up for longer than any lock lasts (max_ttl), and votes.");
  found.warning(
      id,
      "The server was started " + std::to_string(*up) + " s ago, and votes in " + std::to_string(votes - *up) + " s.",
      "It may have forgotten votes when it was started, so it counts as a vote against every lock until then. "
      "If no majority of the others can vote, no lock can be acquired.",
      "Wait. If all servers are started for the first time: young_nodes=vote in the URL");
}

void judge_disk(const self_portrait& is, storage::findings& found) {
  const bool log_failed = is.info.text("aof_last_write_status") == "err";
  const bool snapshot_failed = is.info.text("rdb_last_bgsave_status") == "err";
  if (!is.info.find("rdb_last_bgsave_status")) return;
  if (log_failed) {
    found.danger("redis.disk", "The server could not write its log (aof_last_write_status err).",
                 "It refuses every lock as long as that is so (MISCONF).", "Mend its disk, or free some space there");
  } else if (snapshot_failed) {
    found.warning("redis.disk", "The server could not write its last snapshot (rdb_last_bgsave_status err).",
                  "It refuses every lock as long as that is so (MISCONF), unless stop-writes-on-bgsave-error is no.",
                  "Mend its disk, or free some space there; then BGSAVE");
  } else {
    found.fine("redis.disk", "The last writes to the disk went well.");
  }
}

}  // namespace holdfast::redis
