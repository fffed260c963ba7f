#include "redis/doctor/health_rules.hpp"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::redis {

namespace {

using enum finding::severity;
using facts = server_info;

/// A test of the known values: of a single one, or by a function.
class condition {
 public:
  constexpr condition(std::string_view name, std::optional<std::string_view> text) : name_(name), text_(text) {}
  template <std::convertible_to<bool (*)(const facts&)> F>
  constexpr condition(F test) : test_(test) {}
  bool operator()(const facts& k) const {
    if (test_ != nullptr) return test_(k);
    return text_ ? k.is(name_, *text_) : k.has(name_);
  }

 private:
  std::string_view name_;
  std::optional<std::string_view> text_;
  bool (*test_)(const facts&) = nullptr;
};
constexpr condition has(std::string_view name) { return {name, std::nullopt}; }
constexpr condition is(std::string_view name, std::string_view text) { return {name, text}; }

/// The first rule of an id whose test is true is reported; the rules of an id are adjacent. In the texts {name} stands
/// for the value of that name.
struct health_rule {
  std::string_view id;
  finding::severity level;
  condition test;
  std::string_view what, why = "", fix = "";
};

bool keeps_log(const facts& k) { return k.is("log", "yes") || k.is("log", "1"); }
bool writes_at_once(const facts& k) { return k.is("appendonly", "yes") && k.is("appendfsync", "always"); }
bool is_primary(const facts& k) { return !k.is("role", "slave") && k.number("connected_slaves"); }
bool has_replicas(const facts& k) { return is_primary(k) && k.number("connected_slaves") != 0; }
bool needs_replicas(const facts& k) {
  return k.number("min-replicas-to-write", 0) > 0 && k.number("min-replicas-max-lag", 0) > 0;
}
bool lacks_replicas(const facts& k) {
  return is_primary(k) && needs_replicas(k) && k.number("good_replicas", 0) < k.number("min-replicas-to-write", 0);
}
bool waits(const facts& k) { return is_primary(k) && k.has("wait_for"); }
bool limits_clients(const facts& k) { return k.number("connected_clients") && k.number("maxclients", 0) > 0; }
bool votes(const facts& k) { return k.has("votes_at") && k.number("uptime_in_seconds", -1) >= 0; }

// Texts that several rules share.
constexpr std::string_view to_noeviction = "CONFIG SET maxmemory-policy noeviction (and in redis.conf)";
constexpr std::string_view eviction_loses =
    "A lock that is evicted is lost: another client gets it, and its holder notices only at its next renewal.";
constexpr std::string_view memory_used = "The server uses {memory_share} % of the memory that it may (maxmemory).";
constexpr std::string_view two_holders =
    " The holder of such a lock is notified when it is connected again; until then another client may also hold it.";
constexpr std::string_view to_always = "CONFIG SET appendfsync always (and in redis.conf)";
constexpr std::string_view to_log =
    "CONFIG SET appendonly yes (and in redis.conf), and appendfsync always if no confirmed lock may be forgotten";
constexpr std::string_view to_its_primary =
    "Name the primary in the URL, redis://{its_primary}, or a host name that follows it";
constexpr std::string_view takeover_loses =
    "A replica that takes over lacks the locks that were not replicated to it yet.{two_holders}";
constexpr std::string_view connections = "{connected_clients} of {maxclients} connections are taken (maxclients).";
constexpr std::string_view clock_matters =
    "Locks do not mind, but a fence is never below the server's clock: a server with another clock that takes over, "
    "without the last fences, may begin below those that were given.";
constexpr std::string_view to_ntp =
    "Let NTP set the clocks of all machines: timedatectl set-ntp true; chronyc tracking";

constexpr health_rule rules[] = {
    // How the server is reached.
    {"redis.tls", fine, is("encryption", "tls"),
     "The way to the server is encrypted, and it has shown that it is {peer}."},
    {"redis.tls", fine, is("encryption", "local"), "The way to the server does not leave this machine."},
    {"redis.tls", warning, has("encryption"), "The way to {where} is not encrypted.",
     "Anyone on the network path can read the password and the names of the locks, and take and free any lock.",
     "Set tls-port at the server, and write rediss:// (or valkeys://) in the URL"},
    {"redis.password", fine, is("authentication", "yes"), "We show the server who we are."},
    {"redis.password", fine, is("authentication", "local"),
     "There is no password, on a way that does not leave this machine."},
    {"redis.password", warning, has("authentication"), "The server lets us in without a password.",
     "Any client that reaches it can take and free any lock.",
     "Give us a user of our own: docs/stores/redis.md has the ACL line; and one to the default user, ACL SETUSER "
     "default '>SECRET'"},

    // Sentinels.
    {"redis.sentinel_silent", warning, has("silent_sentinels"),
     "Not every sentinel of the URL answers: {silent_sentinels}.",
     "Fewer sentinels are left to find the primary, and perhaps to change it.", "Start it again, or fix the URL"},
    {"redis.sentinel_views", danger, [](const facts& k) { return k.number("primaries", 0) > 1; },
     "The sentinels do not agree on who is the primary: {views}.",
     "Two servers may grant the same lock: clients of both then hold it at once.",
     "Unless a failover is under way just now: look at the network between them; SENTINEL RESET <service> at the one "
     "that is wrong"},
    {"redis.sentinel_views", fine, has("primaries"), "The sentinels agree that {primary} is the primary."},
    {"redis.sentinel_channels", warning, has("deaf_sentinels"),
     "The user may not subscribe to the channels of the sentinels: {deaf_sentinels}.",
     "A failover is noticed by asking them only, which is seconds later: leases that are lost by it are reported "
     "later, and locks are asked for at the old primary until then.",
     "ACL SETUSER {sentinel_user} '&+selected-slave' '&+promoted-slave' '&+switch-master' +subscribe, at each "
     "sentinel"},
    {"redis.sentinel_channels", fine, has("sentinels"), "The user may subscribe to the channels of the sentinels."},
    {"redis.sentinels", danger, [](const facts& k) { return k.number("sentinels") < k.number("quorum"); },
     "The quorum is {quorum}, and there are {sentinels} sentinels.",
     "They never agree that the primary is gone: when it dies, no replica takes over.",
     "SENTINEL SET <service> quorum {majority}, at each of them"},
    // If one of two sentinels is lost, the other is not a majority.
    {"redis.sentinels", warning, [](const facts& k) { return k.number("sentinels", 3) < 3; },
     "There are {sentinels} sentinels, and it takes more than half of them to change the primary.",
     "If one of them is lost, for example with the primary's machine, no replica takes over.",
     "Run three at least, on three machines, and name them in the URL"},
    {"redis.sentinels", note, [](const facts& k) { return k.number("sentinels_in_url") < k.number("sentinels"); },
     "The URL names {sentinels_in_url} of {sentinels} sentinels.",
     "A failover that another one carries out is followed about a second later; and when those are gone no connection "
     "can be opened, whatever the others know.",
     "Name all of them: redis+sentinel://s1,s2,s3/service"},
    {"redis.sentinels", fine, has("sentinels"),
     "There are {sentinels} sentinels, and {quorum} of them say together that a primary is gone."},

    // The server and its memory.
    {"redis.version", fine, [](const facts& k) { return k.number("major_version", 0) >= 7; },
     "The server is {version}."},
    {"redis.version", danger, has("version"), "The server is {version}, which is too old.",
     "It lacks sharded channels, and scripts that say what they do: no lock can be taken.",
     "Use Redis 7.0 or Valkey 7.2, or later"},
    {"redis.eviction", fine, is("policy", "noeviction"), "No key is evicted (maxmemory-policy noeviction)."},
    {"redis.eviction", note, [](const facts& k) { return k.has("policy") && k.number("maxmemory") == 0; },
     "maxmemory-policy is {policy}, and takes effect as soon as maxmemory is set.",
     "From then on a server that is full throws locks away that are held.", to_noeviction},
    {"redis.eviction", danger, [](const facts& k) { return k.text("policy").starts_with("volatile-"); },
     "A server that is full evicts keys that have a ttl, and those are the locks (maxmemory-policy {policy}).",
     eviction_loses, to_noeviction},
    {"redis.eviction", danger, has("policy"),
     "A server that is full evicts any key, also a lock that is held, and its last fence (maxmemory-policy {policy}).",
     eviction_loses, to_noeviction},
    {"redis.memory", fine, [](const facts& k) { return k.has("memory_share") && k.number("maxmemory", 0) <= 0; },
     "The server has no bound of memory (maxmemory 0)."},
    {"redis.memory", fine,
     [](const facts& k) {
       return k.has("memory_share") && k.number("used_memory", 0) / 9 < k.number("maxmemory", 0) / 10;
     },
     memory_used},
    {"redis.memory", warning, has("memory_share"), memory_used,
     "A full server refuses new locks (OOM); those that are held can be renewed, released and handed on.",
     "CONFIG SET maxmemory to more (and in redis.conf), or give locks a server of their own"},

    // What a restart forgets. redlock.age is the rule of voter::come_of_age().
    {"redis.persistence", fine, [](const facts& k) { return k.has("log") && k.has("votes_at") && !writes_at_once(k); },
     "A restart may forget locks; the server does not vote again before all of them are over (max_ttl)."},
    {"redis.persistence", fine, [](const facts& k) { return keeps_log(k) && k.is("appendfsync", "always"); },
     "A write is on the disk before it is confirmed (appendfsync always)."},
    {"redis.persistence", note, [](const facts& k) { return keeps_log(k) && k.is("appendfsync", "everysec"); },
     "The log reaches the disk once a second (appendfsync everysec).",
     "After a loss of power the locks of the last second are forgotten.{two_holders}",
     "CONFIG SET appendfsync always (and in redis.conf), if no confirmed lock may be forgotten"},
    {"redis.persistence", note, [](const facts& k) { return keeps_log(k) && k.text("appendfsync").empty(); },
     "The server keeps a log; when that reaches the disk could not be looked at.",
     "Without appendfsync always a loss of power forgets the last locks.{two_holders}",
     "CONFIG SET appendfsync always (and in redis.conf), if no confirmed lock may be forgotten"},
    {"redis.persistence", warning, [](const facts& k) { return keeps_log(k); },
     "The log reaches the disk when the system likes (appendfsync {appendfsync}).",
     "After a loss of power the locks of the last half minute or so are forgotten.{two_holders}", to_always},
    {"redis.persistence", warning,
     [](const facts& k) { return k.has("log") && k.has("config") && k.text("save").empty(); },
     "The server keeps its data in memory only (appendonly no, and no save).",
     "A restart forgets every lock.{two_holders}", to_log},
    {"redis.persistence", warning, has("log"), "The server keeps snapshots at most, and no log (appendonly no).",
     "A restart forgets every lock that was taken since the last snapshot.{two_holders}", to_log},
    {"redlock.age", fine, [](const facts& k) { return votes(k) && writes_at_once(k); },
     "The server votes at any age: it keeps every vote (appendfsync always)."},
    {"redlock.age", fine, [](const facts& k) { return votes(k) && k.number("votes_in", 0) <= 0; },
     "The server has been up for longer than any lock lasts (max_ttl), and votes."},
    {"redlock.age", warning, votes, "The server was started {uptime_in_seconds} s ago, and votes in {votes_in} s.",
     "It may have forgotten votes when it was started, so it counts as a vote against every lock until then. If no "
     "majority of the others can vote, no lock can be acquired.",
     "Wait. If all servers are started for the first time: young_nodes=vote in the URL"},
    {"redis.disk", danger,
     [](const facts& k) { return k.has("rdb_last_bgsave_status") && k.is("aof_last_write_status", "err"); },
     "The server could not write its log (aof_last_write_status err).",
     "It refuses every lock while that lasts (MISCONF).", "Fix its disk, or free some space there"},
    {"redis.disk", warning, is("rdb_last_bgsave_status", "err"),
     "The server could not write its last snapshot (rdb_last_bgsave_status err).",
     "It refuses every lock while that lasts (MISCONF), unless stop-writes-on-bgsave-error is no.",
     "Fix its disk, or free some space there; then BGSAVE"},
    {"redis.disk", fine, has("rdb_last_bgsave_status"), "The last writes to the disk went well."},

    // Replication.
    {"redis.role", danger, [](const facts& k) { return k.is("role", "slave") && !k.is("slave_read_only", "0"); },
     "The server is a replica, of {its_primary}.", "It refuses every lock (READONLY).", to_its_primary},
    {"redis.role", danger, is("role", "slave"), "The server is a replica, of {its_primary}.",
     "It takes writes that the primary never sees: clients of both servers can hold the same lock at once.",
     to_its_primary},
    {"redis.role", fine, has("role"), "The server is a primary, and takes writes."},
    {"redis.replicas", danger, lacks_replicas,
     "min-replicas-to-write is {min-replicas-to-write}, and {count_of_good_replicas} can be reached.",
     "The server refuses every lock and every renewal (NOREPLICAS).",
     "Bring the replicas back, or CONFIG SET min-replicas-to-write 0"},
    {"redis.replicas", fine, [](const facts& k) { return is_primary(k) && !has_replicas(k); },
     "There is no replica that could take over without the last locks."},
    {"redis.replicas", fine, [](const facts& k) { return is_primary(k) && needs_replicas(k); },
     "A primary without a live replica grants no locks (min-replicas-to-write {min-replicas-to-write})."},
    {"redis.replicas", warning, [](const facts& k) { return is_primary(k) && k.number("min-replicas-to-write"); },
     "{there_are_replicas}, and min-replicas-to-write is 0.",
     "A primary that is cut off from its replicas goes on giving locks while one of them takes over: two hold at once, "
     "until the old primary is stopped.",
     "CONFIG SET min-replicas-to-write 1 (and in redis.conf, on all of them)"},
    {"redis.takeover", note,
     [](const facts& k) { return has_replicas(k) && !lacks_replicas(k) && k.number("min-replicas-max-lag", 0) > 0; },
     "{there_are_replicas}, and each gets what is written a moment later.", takeover_loses,
     "Let the resource check fences; min-replicas-max-lag (now {min-replicas-max-lag} s) is best below half of the "
     "shortest ttl"},
    {"redis.takeover", note, [](const facts& k) { return has_replicas(k) && !lacks_replicas(k); },
     "{there_are_replicas}, and each gets what is written a moment later.", takeover_loses,
     "Let the resource check fences"},
    {"redis.lag", fine, is("late_replicas", ""), "All replicas keep up."},
    {"redis.lag", warning, has("late_replicas"), "A replica does not keep up: {late_replicas}.",
     "If it takes over, it has forgotten every lock that was taken since.",
     "Look at its network and its load; CLIENT LIST TYPE replica shows what waits for it"},

    // Connections. We close ours after 15 s, see server_transport.cpp.
    {"redis.clients", fine,
     [](const facts& k) {
       return limits_clients(k) && k.number("connected_clients", 0) / 9 < k.number("maxclients", 0) / 10;
     },
     connections},
    {"redis.clients", warning, limits_clients, connections,
     "When all are taken, a client that connects is refused: it gets no lock, and cannot renew one.",
     "CONFIG SET maxclients to more (and in redis.conf), or see who has them: CLIENT LIST"},
    {"redis.timeout", note,
     [](const facts& k) { return k.number("idle_timeout", 0) > 0 && k.number("idle_timeout", 0) <= 15; },
     "The server cuts connections that are idle for {idle_timeout} s (timeout).",
     "We close ours after 15 s; of one that is cut before, all that is held is renewed at once.",
     "CONFIG SET timeout 0, or 30 at least (and in redis.conf)"},
    {"redis.timeout", fine, has("idle_timeout"),
     "The server leaves our idle connections alone (timeout {idle_timeout})."},
    {"redis.keepalive", note, [](const facts& k) { return k.has("config") && k.number("tcp-keepalive") == 0; },
     "The server never looks whether a silent client is still there (tcp-keepalive 0).",
     "A machine that vanished while it waited for a lock counts as alive: a lock that is handed to it costs the others "
     "half a second each time.",
     "CONFIG SET tcp-keepalive 60 (and in redis.conf)"},
    {"redis.keepalive", fine, has("config"), "The server looks after clients that are silent (tcp-keepalive)."},

    // Clusters.
    {"redis.coverage", fine, is("coverage", "no"), "The node goes on when another shard is dead."},
    {"redis.coverage", warning, is("coverage", "yes"),
     "The node refuses everything while a slot has no node (cluster-require-full-coverage).",
     "A shard that dies costs the locks of all shards.",
     "CONFIG SET cluster-require-full-coverage no (and in redis.conf, on all nodes)"},
    {"redis.slots", fine, is("slots_without_node", "0"), "Every slot of the cluster has a node."},
    {"redis.slots", danger, has("slots_without_node"), "{slots_without_node} slots of the cluster have no node.",
     "The locks that lie there can be neither taken nor renewed.",
     "See who is missing: redis-cli --cluster check; then bring it back, or --cluster fix"},
    {"redis.shards", fine, is("primaries_alone", ""), "Every primary of the cluster has a replica."},
    {"redis.shards", warning, has("primaries_alone"), "No replica can take over from {primaries_alone}.",
     "When it dies, its locks are unavailable until it is back.",
     "Add a replica: redis-cli --cluster add-node NEW NODE --cluster-slave"},

    // The options wait_replicas and wait_aof.
    {"redis.wait", danger, [](const facts& k) { return waits(k) && k.has("wait_aof") && k.is("appendonly", "no"); },
     "The URL has wait_aof, and the server writes no such file (appendonly no).",
     "Every lock is refused: it never gets to the disk.",
     "CONFIG SET appendonly yes (and in redis.conf), or leave wait_aof out of the URL"},
    {"redis.wait", danger,
     [](const facts& k) { return waits(k) && k.number("wait_for") > k.number("connected_slaves"); },
     "wait_replicas is {wait_for}, and there is {count_of_replicas}.",
     "Every lock is refused, and given back: too few replicas have it.",
     "Bring the replicas back, or ask for fewer in the URL"},
    {"redis.wait", warning, [](const facts& k) { return waits(k) && !k.number("wait_for") && !has_replicas(k); },
     "Locks wait for the connected replicas, and no replica is connected.",
     "They wait for no replica: a server that takes over later does not know them.",
     "Bring the replicas back, or say in the URL how many it must be: wait_replicas=1"},
    {"redis.wait", fine, waits, "Locks wait for what the URL says, and it is there."},

    // Permissions and keys.
    {"redis.commands", fine, is("unknown_commands", ""), "The server knows all commands that locks need."},
    {"redis.commands", danger, has("unknown_commands"), "The server does not know {unknown_commands}.",
     "Locks need these commands, and fail without them.",
     "Use Redis 7.0 or Valkey 7.2, or later, and take them out of rename-command in its configuration"},
    {"redis.rights", fine, is("missing_rights", ""), "The user has every right that locks need."},
    {"redis.rights", danger, has("missing_rights"), "The user lacks rights that locks need: {missing_rights}.",
     "Locks fail with NOPERM: some at once, others when they have to be waited for or renewed.",
     "ACL SETUSER {granting_rights}; then ACL SAVE, or CONFIG REWRITE where there is no ACL file"},
    {"redis.keys", note, is("all_keys_seen", "no"),
     "Only {keys} of ours were looked at, and there are more, or more of others.",
     "One that was not looked at may have no end.", "Look through the rest: redis-cli --scan --pattern {key_pattern}"},
    {"redis.keys", fine, is("all_keys_good", "yes"),
     "{keys} of ours were looked at, and each is of its type and has its end."},
    {"redis.lock_without_end", danger, has("locks_without_end"),
     "Of {keys} that were looked at, {locks_without_end} no ttl.",
     "No client gets such a lock any more, unless its holder lives and renews it.",
     "If no client works under it: redis-cli DEL {first_locks_without_end}"},
    {"redis.key_without_end", warning, has("keys_without_end"),
     "Of {keys} that were looked at, {keys_without_end} no ttl.",
     "Something else than Holdfast has changed it; it stays for ever if its lock is not used again.",
     "redis-cli PEXPIRE {first_key_without_end} 86400000"},
    {"redis.foreign_key", warning, has("foreign_keys"), "{foreign_keys} another type than ours.",
     "Clients that request that lock get the error foreign.",
     "Choose another prefix= in the URL, or, if it is not needed: redis-cli DEL {first_foreign_keys}"},

    // Clocks.
    {"redis.clock", fine, [](const facts& k) { return k.number("clock_offset", 1000) < 1000; },
     "The server's clock and ours agree to a second."},
    {"redis.clock", note, [](const facts& k) { return k.number("clock_offset", 60'000) < 60'000; },
     "{clock_difference}", clock_matters, to_ntp},
    {"redis.clock", warning, has("clock_offset"), "{clock_difference}", clock_matters, to_ntp},
    {"redis.clock_rate", danger, has("clock_step"), "The server's clock went on by {clock_step}.",
     "It was set, or runs at another rate: a lock may end for the server before its holder expects it, and two hold at "
     "once.",
     "Let NTP slew the server's clock and not step it: chronyd without makestep after its start; look at the clock of "
     "its virtual machine"},
    {"redis.clock_rate", fine, has("clock_watched_for"),
     "The server's clock ran as fast as ours for {clock_watched_for}."},
};

/// Replaces each {name} by its value.
std::string expanded(std::string_view text, const facts& k) {
  std::string all;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    all.append(text.substr(0, open)).append(name == "two_holders" ? two_holders : k.text(name));
    text.remove_prefix(close + 1);
  }
  return all.append(text);
}

}  // namespace

void judge(const server_info& k, storage::findings& found) {
  std::string_view reported;
  for (const health_rule& each : rules) {
    if (each.id == reported || !each.test(k)) continue;
    reported = each.id;
    found.add(each.level, std::string(each.id), expanded(each.what, k), expanded(each.why, k), expanded(each.fix, k));
  }
}

}  // namespace holdfast::redis
