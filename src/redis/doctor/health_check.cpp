#include "redis/doctor/health_check.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "redis/cluster/cluster_map.hpp"
#include "redis/doctor/health_facts.hpp"
#include "redis/doctor/health_rules.hpp"
#include "redis/doctor/required_permissions.hpp"
#include "redis/doctor/stray_keys.hpp"
#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"
#include "redis/sentinel/sentinels.hpp"
#include "redis/transport/connection.hpp"
#include "runtime/blocking.hpp"
#include "runtime/random.hpp"
#include "runtime/signal.hpp"
#include "storage/findings.hpp"

namespace holdfast::redis {

namespace {

using namespace std::chrono_literals;
using runtime::instant;
using runtime::io;
using runtime::later;
using runtime::span;
using runtime::task;
using runtime::wake;
using findings_answer = storage::answer<std::vector<finding>>;

constexpr std::size_t most_keys = 10'000;
constexpr span longest_scan = 1s;
constexpr std::size_t clock_samples = 5;
constexpr span between_samples = 250ms;

/// The check of one server. Throws storage::failure if the server cannot be reached.
class health_check {
 public:
  /// `one` reaches the server that is checked, `all` also receives messages.
  health_check(io& i, transport& all, transport& one, const settings& s, limit until)
      : io_(i), all_(all), transport_(one), settings_(s), patience_(until.at() - i.now()), stop_(until.stop()) {}

  task<findings_answer> run() {
    try {
      judge(facts_about_connection(settings_), found_);
      co_await read_clock();
      if (settings_.sentinels) co_await look_at_sentinels();
      const bool is_replica = co_await look_at_server();
      // After a write that a replica rejects, the transport closes the connection. A blocking caller gets the next one
      // at once; on the loop every later request would fail.
      if (!is_replica || io_.in_place()) co_await try_what_locks_need();
      co_await look_for_stray_keys();
      co_await watch_clock();
    } catch (const storage::failure& why) {
      co_return findings_answer::unknown(why);
    }
    co_return findings_answer::yes(found_.take());
  }

 private:
  [[nodiscard]] limit soon() const { return limit(later(io_.now(), patience_), stop_); }

  /// Returns the reply, which may be an error.
  task<value> ask(const command& what) {
    const limit l = soon();
    reply r = co_await transport_.call(io_, what, l);
    if (auto* const why = std::get_if<storage::failure>(&r)) throw std::move(*why);
    co_return std::move(std::get<value>(r));
  }

  /// Same as ask(), but reports a missing permission as a note and returns nothing. Throws any other error.
  task<std::optional<value>> ask_if_allowed(const command& what, const char* id, const char* right,
                                            const char* unseen) {
    value v = co_await ask(what);
    if (!v.is(value::kind::error)) co_return std::move(v);
    const bool unknown = is_unknown_command(v.text);
    if (!unknown && !is_forbidden(v.text)) throw meaning_of(v.text, settings_.prefix);
    const std::string user = settings_.user.empty() ? "default" : settings_.user;
    found_.note(id, std::string(unseen) + " could not be looked at.", "What is not seen may be unsafe.",
                unknown ? "The server does not know the command: ask its operator"
                        : "Let us look: ACL SETUSER " + user + " " + right);
    co_return std::nullopt;
  }

  /// Returns true if the server is a replica.
  task<bool> look_at_server() {
    command info(1);
    info.add("INFO");
    const std::optional<value> reported =
        co_await ask_if_allowed(info, "redis.info", "+info", "The server's version, memory, disk, role and replicas");
    command config(2 + std::size(judged_settings));
    config.add("CONFIG").add("GET");
    for (const std::string_view each : judged_settings) config.add(each);
    const std::optional<value> set = co_await ask_if_allowed(
        config, "redis.config", "'+config|get'", "The server's settings for data, replicas and connections");
    server_report is{.info = {}, .config = {}, .votes_after = settings_.votes_after, .wait = settings_.wait};
    if (reported) is.info = server_info::of_info(reported->text);
    if (set) is.config = server_info::of_config(*set);
    judge(facts_about_server(is), found_);
    co_return is.info.text("role") == "slave";
  }

  task<void> look_at_sentinels() {
    const limit l = soon();
    const auto look = [this, &l] {
      const dialer same_way(settings_);
      return same_way.asks()->views(l);
    };
    const std::vector<sentinel_view> seen = co_await runtime::blocking(io_, look);
    const std::string& user = settings_.sentinels->user;
    judge(facts_about_sentinels(seen, user.empty() ? "default" : user), found_);
  }

  task<void> try_what_locks_need() {
    refusals refused;
    const std::string unused = "doctor/" + sixteen(runtime::random_bits(), runtime::random_bits());
    // Without a prefix locks can have any key, so only a key under our own prefix can be tried.
    const std::string key =
        settings_.prefix.empty() ? client_record(settings_.prefix, unused) : lock_key(settings_.prefix, unused);
    const std::string channel = inboxes(settings_.prefix) + unused;
    std::vector<permission> all = permissions_for(settings_);
    all.insert(all.end(), required_permissions().begin(), required_permissions().end());
    for (const permission& each : all) {
      const command form = form_of(each, key, channel);
      const value v = co_await ask(form);
      if (v.is(value::kind::error)) refused.add(each.right, v.text);
    }
    const limit l = soon();
    const std::optional<storage::failure> deaf = co_await all_.listen(io_, key, l);
    // In a cluster, another node may be the one that does not reply.
    if (deaf && deaf->code != errc::denied && &all_ == &transport_) throw storage::failure(*deaf);
    if (deaf && deaf->code == errc::denied)
      refused.add("ssubscribe", deaf->text.substr(std::min(deaf->text.find("NOPERM"), deaf->text.size())));
    judge(refused.facts(settings_.user, settings_.prefix), found_);
  }

  task<void> look_for_stray_keys() {
    stray_keys left(settings_.prefix);
    const instant end = later(io_.now(), longest_scan);
    std::string cursor = "0";
    bool over = false;
    while (!over && io_.now() < end && left.looked_at() < most_keys) {
      command scan(6);
      scan.add("SCAN").add(cursor).add("MATCH").add(left.pattern()).add("COUNT").add("1000");
      const std::optional<value> page =
          co_await ask_if_allowed(scan, "redis.keys", "+scan +type", "Keys that are left over");
      if (!page) co_return;
      if (page->items.size() != 2) throw storage::failure(errc::not_ready, "the reply to SCAN is malformed");
      cursor = page->items[0].text;
      over = cursor == "0";
      for (const value& key : page->items[1].items) {
        if (!left.type_of(key.text)) continue;
        if (io_.now() >= end || left.looked_at() >= most_keys) {
          over = false;
          break;
        }
        const bool allowed = co_await look_at_key(key.text, left);
        if (!allowed) co_return;
      }
    }
    judge(left.facts(over), found_);
  }

  /// Returns false if the user is not permitted to.
  task<bool> look_at_key(const std::string& key, stray_keys& left) {
    command type(2);
    type.add("TYPE").add(key);
    const std::optional<value> is =
        co_await ask_if_allowed(type, "redis.keys", "+scan +type", "Keys that are left over");
    if (!is) co_return false;
    command pttl(2);
    pttl.add("PTTL").add(key);
    const std::optional<value> ends = co_await ask_if_allowed(pttl, "redis.keys", "+pttl", "Keys that are left over");
    if (!ends) co_return false;
    left.add(key, is->text, ends->number);
    co_return true;
  }

  /// Reads {seconds, microseconds}. A missing permission is reported by try_what_locks_need().
  task<void> read_clock() {
    command time(1);
    time.add("TIME");
    clock_comparison s{};
    s.wall = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
    s.sent = io_.now();
    const value v = co_await ask(time);
    s.received = io_.now();
    if (v.items.size() != 2) co_return;
    const std::optional<std::int64_t> seconds = number_of(v.items[0].text), rest = number_of(v.items[1].text);
    if (!seconds || *seconds < 0 || *seconds > largest_number / 2'000'000) co_return;
    if (!rest || *rest < 0 || *rest > 999'999) co_return;
    s.server = std::chrono::seconds(*seconds) + std::chrono::microseconds(*rest);
    clock_readings_.push_back(s);
  }

  task<void> watch_clock() {
    for (std::size_t n = 1; n < clock_samples; ++n) {
      const instant next = later(io_.now(), between_samples);
      const wake why = co_await sleep(io_, limit(next, stop_));
      if (why == wake::stopped) break;
      co_await read_clock();
    }
    judge(facts_about_clock(clock_readings_), found_);
  }

  io& io_;
  transport& all_;
  transport& transport_;
  const settings& settings_;
  const span patience_;  // for one request
  const std::stop_token stop_;
  storage::findings found_;
  std::vector<clock_comparison> clock_readings_;
};

/// Checks the assignment of slots that one of the nodes reports.
task<void> look_at_slots(io& i, transport& all, const settings& s, limit l, storage::findings& found) {
  command ask(2);
  ask.add("CLUSTER").add("SLOTS");
  const reply r = co_await all.call(i, ask, l);
  const value* const v = std::get_if<value>(&r);
  const auto ranges = v != nullptr ? slots_in(*v, {s.host, s.port}) : std::nullopt;
  if (ranges) judge(facts_about_cluster(*ranges), found);
}

/// Checks one primary after the other and prefixes the findings with its address.
task<findings_answer> examine_parts(io& i, transport& all, const settings& s, std::vector<std::string> parts,
                                    limit until) {
  const span patience = until.at() - i.now();
  storage::findings whole;
  co_await look_at_slots(i, all, s, until, whole);
  std::vector<finding> found = whole.take();
  std::optional<storage::failure> why;
  bool some_answer = false;  // including one that it cannot serve
  for (const std::string& part : parts) {
    const std::shared_ptr<transport> there = all.part(part);
    if (!there) continue;  // it has just left the cluster
    health_check one(i, all, *there, s, limit(later(i.now(), patience), until.stop()));
    findings_answer here = co_await one.run();
    if (here.is_unknown()) {
      why = here.why();
      some_answer = some_answer || why->code != errc::unreachable;
      found.push_back({finding::severity::danger, "redis.node",
                       "The node " + part + " cannot be looked at: " + why->text,
                       "The locks of its slots can be neither taken nor renewed.",
                       "Bring it back, or let one of its replicas take over"});
      continue;
    }
    some_answer = true;
    for (finding& each : here.value()) {
      each.what = part + ": " + each.what;
      found.push_back(std::move(each));
    }
  }
  if (!some_answer && why) co_return findings_answer::unknown(std::move(*why));
  co_return findings_answer::yes(std::move(found));
}

}  // namespace

task<findings_answer> examine(io& i, transport& l, const settings& s, limit until) {
  if (!s.of_a_cluster()) {
    health_check one(i, l, l, s, std::move(until));
    findings_answer found = co_await one.run();
    co_return found;
  }
  storage::answer<std::vector<std::string>> parts = co_await l.parts(i, until);
  if (parts.is_unknown()) co_return findings_answer::unknown(parts.why());
  findings_answer found = co_await examine_parts(i, l, s, std::move(parts.value()), until);
  co_return found;
}

}  // namespace holdfast::redis
