#include <algorithm>
#include <string>

#include "redis/doctor/judgement.hpp"

namespace holdfast::redis {

namespace {

constexpr std::int64_t our_idle_time =
    15;  // seconds, after which we close a connection ourselves: see server_transport.cpp

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1" || host.starts_with("::ffff:127.");
}

/// Sentinels that are here may name servers that are not; but nobody sets them up so.
bool is_this_machine(const settings& s) {
  if (!s.path.empty()) return true;
  if (!s.sentinels) return is_this_machine(s.host);
  return std::ranges::all_of(s.sentinels->at, [](const net::endpoint& p) { return is_this_machine(p.host); });
}

}  // namespace

void judge_version(const self_portrait& is, storage::findings& found) {
  const std::string speaks(is.info.text("redis_version"));  // a Valkey says which Redis it is like
  if (speaks.empty()) return;
  const std::optional<std::string_view> valkey = is.info.find("valkey_version");
  const std::string name = valkey ? "Valkey " + std::string(*valkey) : "Redis " + speaks;
  const std::int64_t major = number_of(std::string_view(speaks).substr(0, speaks.find('.'))).value_or(0);
  if (major >= 7) return found.fine("redis.version", "The server is " + name + ".");
  found.danger("redis.version", "The server is " + name + ", which is too old.",
               "It lacks sharded channels, and scripts that say what they do: no lock can be taken.",
               "Use Redis 7.0 or Valkey 7.2, or later");
}

void judge_connections(const self_portrait& is, storage::findings& found) {
  const std::optional<std::int64_t> now = is.info.number("connected_clients");
  const std::int64_t most = is.info.number("maxclients").value_or(0);
  if (now && most > 0) {
    const std::string what =
        std::to_string(*now) + " of " + std::to_string(most) + " connections are taken (maxclients).";
    if (*now / 9 < most / 10) {
      found.fine("redis.clients", what);
    } else {
      found.warning("redis.clients", what,
                    "Whoever comes when all are taken is refused: it gets no lock, and cannot renew one.",
                    "CONFIG SET maxclients to more (and in redis.conf), or see who has them: CLIENT LIST");
    }
  }
  if (!is.config) return;
  const std::int64_t idle = is.config->number("timeout").value_or(0);
  if (idle > 0 && idle <= our_idle_time) {
    found.note("redis.timeout",
               "The server cuts connections that are idle for " + std::to_string(idle) + " s (timeout).",
               "We close ours after " + std::to_string(our_idle_time) +
                   " s; of one that is cut before, all that is held is renewed at once.",
               "CONFIG SET timeout 0, or " + std::to_string(2 * our_idle_time) + " at least (and in redis.conf)");
  } else {
    found.fine("redis.timeout", "The server leaves our idle connections alone (timeout " + std::to_string(idle) + ").");
  }
  if (is.config->number("tcp-keepalive").value_or(300) == 0) {
    found.note("redis.keepalive", "The server never looks whether a silent client is still there (tcp-keepalive 0).",
               "A machine that vanished while it waited for a lock counts as alive: a lock that is handed to it costs "
               "the others half a second each time.",
               "CONFIG SET tcp-keepalive 60 (and in redis.conf)");
  } else {
    found.fine("redis.keepalive", "The server looks after clients that are silent (tcp-keepalive).");
  }
}

void judge_way(const settings& s, storage::findings& found) {
  if (s.tls) {
    found.fine("redis.tls", "The way to the server is encrypted, and it has shown that it is " +
                                (s.sentinels ? "what the sentinels call it" : s.host) + ".");
  } else if (is_this_machine(s)) {
    found.fine("redis.tls", "The way to the server does not leave this machine.");
  } else {
    found.warning("redis.tls", "The way to " + s.where() + " is not encrypted.",
                  "Whoever is in between reads the password and the names of the locks, and can take and free any of "
                  "them.",
                  "Set tls-port at the server, and write rediss:// (or valkeys://) in the URL");
  }
  if (!s.password.empty() || (s.tls && !s.tls->cert.empty())) {
    found.fine("redis.password", "We show the server who we are.");
  } else if (is_this_machine(s)) {
    found.fine("redis.password", "There is no password, on a way that does not leave this machine.");
  } else {
    found.warning("redis.password", "The server lets us in without a password.",
                  "Whoever reaches it can take and free any lock.",
                  "Give us a user of our own: docs/stores/redis.md has the ACL line; and one to the default user, "
                  "ACL SETUSER default '>SECRET'");
  }
}

void judge(const self_portrait& is, storage::findings& found) {
  judge_version(is, found);
  judge_eviction(is, found);
  judge_memory(is, found);
  judge_persistence(is, found);
  judge_age(is, found);
  judge_disk(is, found);
  judge_role(is, found);
  judge_replicas(is, found);
  judge_lag(is, found);
  judge_connections(is, found);
  judge_coverage(is, found);
}

}  // namespace holdfast::redis
