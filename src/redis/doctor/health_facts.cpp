#include "redis/doctor/health_facts.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "redis/protocol/slots.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::span;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::int64_t longest_silence = 2;                  // seconds; a replica reports every second
constexpr std::int64_t most_behind = std::int64_t{1} << 20;  // bytes

std::string& append_to(std::string& list, std::string_view separator) {
  return list.append(list.empty() ? "" : separator);
}

std::string address(std::string_view host, std::string_view port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::string(port);
}

std::string count_of(std::int64_t replicas) {
  return std::to_string(replicas) + (replicas == 1 ? " replica" : " replicas");
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1" || host.starts_with("::ffff:127.");
}

/// Sentinels on this machine could name servers elsewhere, but such a setup is unlikely.
bool is_this_machine(const settings& s) {
  if (!s.path.empty()) return true;
  if (!s.sentinels) return is_this_machine(s.host);
  return std::ranges::all_of(s.sentinels->at, [](const auto& each) { return is_this_machine(each.host); });
}

std::string in_words(span time) {
  const auto ms = duration_cast<milliseconds>(time);
  return ms < 10s ? std::to_string(ms.count()) + " ms"
                  : std::to_string(duration_cast<std::chrono::seconds>(time).count()) + " s";
}

void add_version(server_info& k) {
  const std::string_view redis =
      k.text("redis_version");  // for Valkey, the version of Redis that it is compatible with
  if (redis.empty()) return;
  k.set("major_version", number_of(redis.substr(0, redis.find('.'))).value_or(0));
  const std::string version =
      k.has("valkey_version") ? "Valkey " + std::string(k.text("valkey_version")) : "Redis " + std::string(redis);
  k.set("version", version);
}

void add_memory(server_info& k) {
  // A user that may not run CONFIG GET finds the policy in INFO.
  const std::string policy(k.text(k.has("maxmemory-policy") ? "maxmemory-policy" : "maxmemory_policy"));
  const std::int64_t used = k.number("used_memory", -1), most = k.number("maxmemory", 0);
  if (!policy.empty() && k.number("maxmemory")) k.set("policy", policy);
  if (used < 0) return;
  const double share = most > 0 ? 100 * static_cast<double>(used) / static_cast<double>(most) : 0;
  k.set("memory_share", static_cast<std::int64_t>(std::min(share, 999.0)));
}

void add_persistence(server_info& k, const std::optional<milliseconds>& votes_after) {
  const std::string log(k.text(k.has("appendonly") ? "appendonly" : "aof_enabled"));
  if (!log.empty()) k.set("log", log);
  if (!votes_after) return;
  const std::int64_t votes_at = std::chrono::ceil<std::chrono::seconds>(*votes_after).count() + 1;
  const std::int64_t up = k.number("uptime_in_seconds", -1);
  k.set("votes_at", votes_at);
  if (up >= 0) k.set("votes_in", votes_at - up);
}

std::string late_replicas(const server_info& k, std::int64_t replicas) {
  const std::int64_t written = std::max<std::int64_t>(k.number("master_repl_offset", 0), 0);
  std::string late;
  for (std::int64_t n = 0; n < std::min<std::int64_t>(replicas, 100); ++n) {
    const std::string_view one = k.text("slave" + std::to_string(n));
    if (one.empty()) continue;
    const std::string_view state = field_of(one, "state");
    const std::int64_t silent = number_of(field_of(one, "lag")).value_or(0);
    const std::int64_t behind =
        written - std::max<std::int64_t>(number_of(field_of(one, "offset")).value_or(written), 0);
    const bool online = state == "online";
    if (online && silent <= longest_silence && behind <= most_behind) continue;
    append_to(late, "; ").append(address(field_of(one, "ip"), field_of(one, "port")));
    late +=
        online ? " last replied " + std::to_string(silent) + " s ago and is " + std::to_string(behind) + " bytes behind"
               : " is not online (" + std::string(state) + ")";
  }
  return late;
}

void add_replication(server_info& k) {
  k.set("its_primary", address(k.text("master_host"), k.text("master_port")));
  const std::optional<std::int64_t> replicas = k.number("connected_slaves");
  if (!replicas) return;
  const std::int64_t good = k.number("min_slaves_good_slaves", *replicas);
  k.set("good_replicas", good);
  k.set("count_of_good_replicas", count_of(good));
  k.set("count_of_replicas", count_of(*replicas));
  k.set("there_are_replicas", (*replicas == 1 ? "There is " : "There are ") + count_of(*replicas));
  if (*replicas > 0 && !k.is("role", "slave")) k.set("late_replicas", late_replicas(k, *replicas));
}

void add_wait(server_info& k, const acknowledgement& wait) {
  if (!wait.is_wanted()) return;
  k.set("wait_for", wait.by == acknowledgement::count::number ? std::to_string(wait.replicas) : "all");
  if (wait.on_disks != acknowledgement::disks::none) k.set("wait_aof", "yes");
}

}  // namespace

server_info facts_about_server(const server_report& report) {
  server_info k = report.info;
  if (report.config) {
    k.add(*report.config);
    k.set("config", "yes");
    k.set("idle_timeout", k.number("timeout", 0));
    if (k.is("cluster_enabled", "1")) k.set("coverage", std::string(k.text("cluster-require-full-coverage")));
  }
  add_version(k);
  add_memory(k);
  add_persistence(k, report.votes_after);
  add_replication(k);
  add_wait(k, report.wait);
  return k;
}

server_info facts_about_connection(const settings& s) {
  server_info k;
  const char* const otherwise = is_this_machine(s) ? "local" : "no";
  const bool is_known = !s.password.empty() || (s.tls && !s.tls->cert.empty());
  k.set("encryption", s.tls ? "tls" : otherwise);
  k.set("authentication", is_known ? "yes" : otherwise);
  k.set("peer", s.sentinels ? "what the sentinels call it" : s.host);
  k.set("where", s.where());
  return k;
}

server_info facts_about_sentinels(const std::vector<sentinel_view>& all, std::string_view user) {
  std::string silent, views, deaf;
  std::set<std::string> primaries;
  std::int64_t sentinels = 0, quorum = 0;
  for (const sentinel_view& each : all) {
    if (!each.why.empty()) {
      append_to(silent, "; ").append(each.from).append(": ").append(each.why);
      continue;
    }
    if (!each.deaf.empty()) append_to(deaf, "; ").append(each.from).append(": ").append(each.deaf);
    sentinels = std::max(sentinels, each.others + 1);
    quorum = std::max(quorum, each.quorum);
    primaries.insert(each.primary);
    append_to(views, "; ").append(each.from).append(" says ").append(each.primary);
  }
  server_info k;
  k.set("sentinel_user", std::string(user));
  k.set("sentinels_in_url", std::ssize(all));
  if (!silent.empty()) k.set("silent_sentinels", silent);
  if (!deaf.empty()) k.set("deaf_sentinels", deaf);
  if (sentinels == 0) return k;
  k.set("sentinels", sentinels);
  k.set("quorum", quorum);
  k.set("majority", sentinels / 2 + 1);
  k.set("primaries", std::ssize(primaries));
  k.set("primary", *primaries.begin());
  k.set("views", views);
  return k;
}

server_info facts_about_cluster(const std::vector<slot_range>& ranges) {
  std::int64_t missing = slots_of_a_cluster;
  std::set<std::string> alone;
  for (const slot_range& each : ranges) {
    missing -= each.last - each.first + 1;
    if (each.replicas == 0) alone.insert(text_of(each.primary));
  }
  std::string who;
  for (const std::string& each : alone) append_to(who, ", ").append(each);
  server_info k;
  k.set("slots_without_node", std::max<std::int64_t>(missing, 0));
  k.set("primaries_alone", who);
  return k;
}

server_info facts_about_clock(const std::vector<clock_comparison>& all) {
  server_info k;
  if (all.empty()) return k;
  const auto round_trip = [](const clock_comparison& each) { return each.received - each.sent; };
  const clock_comparison& best = *std::ranges::min_element(all, {}, round_trip);
  const span half = round_trip(best) / 2;
  const span apart = span(best.server - best.wall) - half;
  const span at_least = std::max<span>(std::chrono::abs(apart) - half, 0ns);
  k.set("clock_offset", duration_cast<milliseconds>(at_least).count());
  k.set("clock_difference", "The server's clock is " + in_words(std::chrono::abs(apart)) + " (give or take " +
                                in_words(half + 1ms) + ") " + (apart < 0ns ? "behind" : "ahead of") + " ours.");
  if (all.size() > 1) k.set("clock_watched_for", in_words(all.back().received - all.front().sent));
  for (std::size_t to = 1; to < all.size() && !k.has("clock_step"); ++to) {
    for (const std::size_t from : {to - 1, std::size_t{0}}) {
      const clock_advance by(all[from], all[to]);
      const span least = std::max<span>(by.least, 0ns);
      // The margin of leases, and a little for rounded times.
      if (by.server >= least - least / 100 - 1ms && by.server <= by.most + by.most / 100 + 1ms) continue;
      k.set("clock_step", std::to_string(duration_cast<milliseconds>(by.server).count()) +
                              " ms while ours went on by " + in_words(least) + " to " + in_words(by.most));
      break;
    }
  }
  return k;
}

}  // namespace holdfast::redis
