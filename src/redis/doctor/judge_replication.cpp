#include <algorithm>
#include <string>

#include "redis/doctor/judgement.hpp"

namespace holdfast::redis {

namespace {

constexpr std::int64_t longest_silence = 2;                  // seconds; a replica reports every second
constexpr std::int64_t most_behind = std::int64_t{1} << 20;  // bytes

bool is_replica(const self_portrait& is) { return is.info.text("role") == "slave"; }

std::string address(std::string_view host, std::string_view port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::string(port);
}

std::string count_of(std::int64_t replicas) {
  return replicas == 1 ? "1 replica" : std::to_string(replicas) + " replicas";
}

std::string there_are(std::int64_t replicas) {
  return (replicas == 1 ? "There is " : "There are ") + count_of(replicas);
}

}  // namespace

void judge_role(const self_portrait& is, storage::findings& found) {
  if (!is.info.find("role")) return;
  if (!is_replica(is)) return found.fine("redis.role", "The server is a primary, and takes writes.");
  const std::string primary = address(is.info.text("master_host"), is.info.text("master_port"));
  const bool refuses = is.info.text("slave_read_only") != "0";
  found.danger("redis.role", "The server is a replica, of " + primary + ".",
               refuses ? "It refuses every lock (READONLY)."
                       : "It takes writes that the primary never sees: whoever locks there and here holds at once.",
               "Name the primary in the URL, redis://" + primary + ", or a host name that follows it");
}

void judge_replicas(const self_portrait& is, storage::findings& found) {
  const std::string id = "redis.replicas";
  const std::optional<std::int64_t> connected = is.info.number("connected_slaves");
  if (is_replica(is) || !connected) return;
  const std::optional<std::int64_t> wanted = is.config ? is.config->number("min-replicas-to-write") : std::nullopt;
  const std::int64_t most_lag = is.config ? is.config->number("min-replicas-max-lag").value_or(0) : 0;
  const std::int64_t good = is.info.number("min_slaves_good_slaves").value_or(*connected);
  const std::int64_t at_least = wanted.value_or(0);
  const bool demands = at_least > 0 && most_lag > 0;
  if (demands && good < at_least) {
    return found.danger(
        id, "min-replicas-to-write is " + std::to_string(at_least) + ", and " + count_of(good) + " can be heard.",
        "The server refuses every lock and every renewal (NOREPLICAS).",
        "Bring the replicas back, or CONFIG SET min-replicas-to-write 0");
  }
  if (*connected == 0) return found.fine(id, "There is no replica that could take over without the last locks.");
  if (demands) {
    found.fine(
        id, "A primary that hears no replica gives no locks (min-replicas-to-write " + std::to_string(at_least) + ").");
  } else if (wanted) {
    found.warning(id, there_are(*connected) + ", and min-replicas-to-write is 0.",
                  "A primary that is cut off from its replicas goes on giving locks while one of them takes over: two "
                  "hold at once, until the old primary is stopped.",
                  "CONFIG SET min-replicas-to-write 1 (and in redis.conf, on all of them)");
  }
  found.note("redis.takeover", there_are(*connected) + ", and each gets what is written a moment later.",
             "One that takes over has forgotten the locks that were not passed on to it yet. Who holds such a lock "
             "hears of it as soon as it is connected again, and until then another may have it, too.",
             most_lag > 0 ? "Let the resource check fences; min-replicas-max-lag (now " + std::to_string(most_lag) +
                                " s) is best below half of the shortest ttl"
                          : "Let the resource check fences");
}

void judge_wait(const acknowledgement& wait, const self_portrait& is, storage::findings& found) {
  const std::string id = "redis.wait";
  const std::optional<std::int64_t> connected = is.info.number("connected_slaves");
  if (!wait.is_wanted() || is_replica(is) || !connected) return;
  if (wait.on_disks != acknowledgement::disks::none && is.config && is.config->text("appendonly") == "no") {
    return found.danger(id, "The URL has wait_aof, and the server writes no such file (appendonly no).",
                        "Every lock is refused: it never gets to the disk.",
                        "CONFIG SET appendonly yes (and in redis.conf), or leave wait_aof out of the URL");
  }
  if (wait.by == acknowledgement::count::number && *connected < wait.replicas) {
    return found.danger(
        id, "wait_replicas is " + std::to_string(wait.replicas) + ", and there is " + count_of(*connected) + ".",
        "Every lock is refused, and given back: too few replicas have it.",
        "Bring the replicas back, or ask for fewer in the URL");
  }
  if (wait.by != acknowledgement::count::number && *connected == 0) {
    return found.warning(id, "Locks wait for the replicas that are there, and there is none.",
                         "They wait for nobody: whatever takes over later knows nothing of them.",
                         "Bring the replicas back, or say in the URL how many it must be: wait_replicas=1");
  }
  found.fine(id, "Locks wait for what the URL says, and it is there.");
}

void judge_lag(const self_portrait& is, storage::findings& found) {
  const std::int64_t many = is.info.number("connected_slaves").value_or(0);
  if (is_replica(is) || many <= 0) return;
  const std::int64_t written = std::max<std::int64_t>(is.info.number("master_repl_offset").value_or(0), 0);
  std::string late;
  for (std::int64_t n = 0; n < std::min<std::int64_t>(many, 100); ++n) {
    const std::string_view one = is.info.text("slave" + std::to_string(n));
    if (one.empty()) continue;
    const std::string_view state = field_of(one, "state");
    const std::int64_t silent = number_of(field_of(one, "lag")).value_or(0);
    const std::int64_t behind =
        written - std::max<std::int64_t>(number_of(field_of(one, "offset")).value_or(written), 0);
    const bool online = state == "online";
    if (online && silent <= longest_silence && behind <= most_behind) continue;
    late += late.empty() ? "" : "; ";
    late += address(field_of(one, "ip"), field_of(one, "port"));
    late += online
                ? " was heard " + std::to_string(silent) + " s ago and is " + std::to_string(behind) + " bytes behind"
                : " is not online (" + std::string(state) + ")";
  }
  if (late.empty()) return found.fine("redis.lag", "All replicas keep up.");
  found.warning("redis.lag", "A replica does not keep up: " + late + ".",
                "If it takes over, it has forgotten every lock that was taken since.",
                "Look at its network and its load; CLIENT LIST TYPE replica shows what waits for it");
}

}  // namespace holdfast::redis
