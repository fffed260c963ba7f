#include "sim/redis_server.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "redis/protocol/script.hpp"
#include "sim/lua_bugs.hpp"

namespace holdfast::sim {

using redis::value;

namespace {

std::string sha1(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned n = 0; n < size; ++n) hex.append({digits[digest[n] >> 4], digits[digest[n] & 15]});
  return hex;
}

/// RESP3.
void encode(const value& v, std::string& into) {
  switch (v.what) {
    case value::kind::nil: into += "_\r\n"; return;
    case value::kind::integer: into += ":" + std::to_string(v.number) + "\r\n"; return;
    case value::kind::text: into += "$" + std::to_string(v.text.size()) + "\r\n" + v.text + "\r\n"; return;
    case value::kind::error: into += "-" + v.text + "\r\n"; return;
    case value::kind::list:
    case value::kind::push:
      into += (v.is(value::kind::list) ? "*" : ">") + std::to_string(v.items.size()) + "\r\n";
      for (const value& item : v.items) encode(item, into);
      return;
  }
}

std::string encoded(const value& v) {
  std::string bytes;
  encode(v, bytes);
  return bytes;
}

value pushed(std::vector<value> items) {
  value v = list(std::move(items));
  v.what = value::kind::push;
  return v;
}

struct known_script {
  const redis::script& is;
  asked what;
  char of;
  bool several = false;
};
const known_script ours[] = {
    {redis::scripts::acquire, asked::poll, '-'},
    {redis::scripts::renew, asked::renew, '-'},
    {redis::scripts::release, asked::release, '-'},
    {redis::scripts::downgrade, asked::downgrade, '-'},
    {redis::scripts::acquire_shared, asked::poll, '+'},
    {redis::scripts::renew_shared, asked::renew, '+'},
    {redis::scripts::release_shared, asked::release, '+'},
    {redis::scripts::take, asked::poll, ':'},
    {redis::scripts::renew_permits, asked::renew, ':'},
    {redis::scripts::give, asked::release, ':'},
    {redis::scripts::resize, asked::resize, ':'},
    {redis::scripts::release_barging, asked::release, '-'},
    {redis::scripts::acquire_all, asked::poll, '-', true},
    {redis::scripts::renew_all, asked::renew, '-', true},
    {redis::scripts::release_all, asked::release, '-', true},
    {redis::scripts::revoke, asked::revoke, '?'},
    {redis::scripts::break_lock, asked::break_lock, '!'},
};

using words = std::vector<std::string>;

/// The steps of one run.
std::vector<redis_step> scripts_for(const known_script& s, const words& keys, const words& args) {
  if (!s.several) return {{s.what, s.of, keys, args}};
  std::vector<redis_step> all;
  const std::string& common = args.at(0);           // a ttl, or how the channels of inboxes begin
  const bool with_fences = s.what == asked::renew;  // behind each owner
  const std::size_t many = with_fences ? (args.size() - 2) / 2 : args.size() - 1;
  const std::size_t each = keys.size() / many;
  for (std::size_t n = 1; n <= many; ++n) {
    words own(keys.begin() + static_cast<std::ptrdiff_t>(each * (n - 1)),
              keys.begin() + static_cast<std::ptrdiff_t>(each * n));
    if (s.what == asked::poll) own.push_back(own[0] + ":h");
    words said{args[with_fences ? 2 * n : n], common};
    if (s.what == asked::poll) said.insert(said.end(), {"", "-"});
    all.push_back({s.what, s.of, own, said, true});
  }
  return all;
}

}  // namespace

redis_server::redis_server(world& w, drifting_clock clock, choices c)
    : world_(w),
      clock_(clock),
      choices_(c),
      lua_([this](const words& command) { return in_script(command); }),
      audit_(w,
             {keys_, [this] { return now(); },
              [this](const std::string& inbox) { return listeners_at(inboxes_ + inbox) > 0; },
              [this] { return history(); }},
             c.in_order && c.fair, c.fair) {
  started_ = now().us / 1'000'000 - c.age.count();
}

wall_time redis_server::now() const {
  return {(clock_.now().time_since_epoch() + set_forward_) / std::chrono::microseconds(1)};
}

redis_server::connection redis_server::accept(std::function<void(std::string)> say, std::function<void()> hang_up) {
  const connection c = ++last_connection_;
  peers_[c] = peer{std::move(say), std::move(hang_up)};
  return c;
}

void redis_server::closed(connection c) {
  if (world_.now() < still_until_) return world_.at(still_until_, [this, c] { closed(c); });  // behind what came before
  peers_.erase(c);
}

void redis_server::receive(connection c, std::string_view bytes) {
  if (world_.now() < still_until_) {
    return world_.at(still_until_, [this, c, kept = std::string(bytes)] { receive(c, kept); });
  }
  const auto at = peers_.find(c);
  if (at == peers_.end()) return;
  at->second.decoder.feed(bytes);
  serve(c);
}

void redis_server::serve(connection c) {
  const auto at = peers_.find(c);
  if (at == peers_.end()) return;
  peer& p = at->second;
  while (!p.waits_for) {
    const std::optional<value> command = p.decoder.next();
    if (!command) return;
    words w;
    for (const value& item : command->items) w.push_back(item.text);
    if (w.at(0) == "WAIT" && begin_to_wait(c, p, w)) return;
    const value reply = carry_out(c, p, w);
    if (!choices_.push_first) p.say(encoded(reply));
    for (auto& [to, message] : std::exchange(messages_, {})) peers_.at(to).say(std::move(message));
    if (choices_.push_first) p.say(encoded(reply));
  }
}

/// False: there is nothing to wait for.
bool redis_server::begin_to_wait(connection c, peer& p, const words& w) {
  if (acknowledged_ && *acknowledged_ >= written_) return false;
  p.waits_for = written_;
  world_.in(std::chrono::milliseconds(std::atoi(w.at(2).c_str())), [this, c, until = written_] {
    const auto at = peers_.find(c);
    if (at != peers_.end() && at->second.waits_for == until) end_wait(c, 0);
  });
  return true;
}

void redis_server::acknowledge(std::uint64_t written) {
  acknowledged_ = std::max(acknowledged_.value_or(0), written);
  std::vector<connection> over;
  for (const auto& [c, p] : peers_) {
    if (p.waits_for && *p.waits_for <= *acknowledged_) over.push_back(c);
  }
  for (const connection c : over) end_wait(c, 1);
}

void redis_server::end_wait(connection c, std::int64_t replicas) {
  peer& p = peers_.at(c);
  p.waits_for.reset();
  p.say(encoded(number(replicas)));
  serve(c);
}

value redis_server::carry_out(connection c, peer& p, const words& w) {
  if (world_.now() < loading_until_ && w.at(0) != "SSUBSCRIBE") {
    return error("LOADING Redis is loading the dataset in memory");
  }
  if (w.at(0) == "EVALSHA" && w.size() > 2) return evalsha(w);
  if (w[0] == "SCRIPT" && w.size() == 3 && w[1] == "LOAD") return load(w[2]);
  if (w[0] == "SSUBSCRIBE" && w.size() == 2) {
    world_.note("subscribe", c);
    p.channels.insert(w[1]);
    return pushed({text("ssubscribe"), text(w[1]), number(static_cast<std::int64_t>(p.channels.size()))});
  }
  if (w[0] == "WAIT") return number(1);
  if (w[0] == "INFO") return text(info());
  if (w[0] == "CONFIG" && w.size() == 3 && w[1] == "GET" && w[2] == "appendfsync") {
    return list({text(w[2]), text(choices_.writes_at_once ? "always" : "everysec")});
  }
  if (w[0] == "MGET") return *keys_.carry_out(w, now());
  return error("ERR unknown command '" + w[0] + "'");
}

/// Reports the uptime as the difference of two clock values, each in whole seconds.
std::string redis_server::info() const {
  return "# Server\r\nuptime_in_seconds:" + std::to_string(now().us / 1'000'000 - started_) +
         "\r\n# Persistence\r\naof_enabled:" + (choices_.writes_at_once ? "1" : "0") + "\r\n";
}

value redis_server::load(const std::string& script) {
  const std::string sha = sha1(script);
  const std::optional<std::string> bad = lua_.load(sha, with_seeded_bug(script));
  const std::string shebang = script.substr(0, script.find('\n'));
  const auto has_flag = [&](const char* flag) { return shebang.find(flag) != std::string::npos; };
  if (shebang.starts_with("#!lua") && (has_flag("allow-oom") || has_flag("no-writes"))) allow_oom_.insert(sha);
  return bad ? error(*bad) : text(sha);
}

/// Returns the error with which a server refuses a script that has a shebang before its first effect.
std::optional<std::string> redis_server::refusal(const std::string& sha) const {
  if (!lua_.knows(sha)) return "NOSCRIPT No matching script. Please use EVAL.";
  if (only_reads_) return "READONLY You can't write against a read only replica.";
  const bool full = world_.now() < full_until_ && !allow_oom_.contains(sha);
  if (full) return "OOM command not allowed when used memory > 'maxmemory'.";
  return std::nullopt;
}

value redis_server::evalsha(const words& w) {
  if (const std::optional<std::string> why = refusal(w[1])) return error(*why);
  const auto keys = static_cast<std::size_t>(std::atoi(w[2].c_str()));
  if (w.size() < 3 + keys) return error("ERR Number of keys can't be greater than number of args");
  const auto first_arg = w.begin() + 3 + static_cast<std::ptrdiff_t>(keys);
  const words key_names(w.begin() + 3, first_arg), args(first_arg, w.end());
  const auto* const known =
      std::find_if(std::begin(ours), std::end(ours), [&](const auto& s) { return s.is.sha == w[1]; });
  if (known == std::end(ours)) return run(w[1], key_names, args);
  const std::vector<redis_step> steps = scripts_for(*known, key_names, args);
  if (const std::string inboxes = steps[0].inboxes(); !inboxes.empty()) inboxes_ = inboxes;
  audit_.before(steps);
  value reply = run(w[1], key_names, args);
  world_.note("script", static_cast<std::uint64_t>(known->what), static_cast<std::uint64_t>(reply.number));
  for (const redis_step& step : steps) {
    if (world_.trace) world_.tell(told(step, reply));
  }
  audit_.after(steps, reply);
  return reply;
}

value redis_server::run(const std::string& sha, const words& keys, const words& args) {
  const auto at_first = [&] { return keys.empty() ? std::nullopt : keys_.text_at(keys[0], now()); };
  const std::optional<redis_keys::cell> before = at_first();
  value reply = lua_.run(sha, keys, args);
  ++written_;
  on_script({sha, keys, args, before, at_first(), reply});
  return reply;
}

/// For readers of a trace: claims by their first characters.
std::string redis_server::told(const redis_step& step, const value& reply) const {
  constexpr const char* names[] = {"poll", "renew", "release", "downgrade", "resize", "revoke", "break"};
  const auto claim = [](const std::string& owner) { return owner.size() > 33 ? owner.substr(17, 4) : owner; };
  std::string said = std::to_string(reply.number) + reply.text;
  if (!reply.items.empty()) said = "no, " + std::to_string(reply.items[0].number) + " ms left";
  const auto held = keys_.text_at(step.lock(), now());
  std::string in, line;
  for (const std::string& who : keys_.members_of(step.holders(), now())) in += " " + claim(who);
  for (const std::string& who : keys_.members_of(step.queue(), now())) line += " " + claim(who);
  return std::string("  ") + names[static_cast<int>(step.what)] + step.of + " of " + step.lock() + " by " +
         claim(step.owner()) + ": " + said + "; held by " + (held ? claim(held->value) : "nobody") + ", list:" + in +
         ", waiting:" + line;
}

value redis_server::in_script(const words& w) {
  if (w[0] == "SPUBLISH" && w.size() == 3) return spublish(w);
  if (w[0] == "INFO" && w.size() == 2 && w[1] == "replication") {
    return text("# Replication\r\nrole:master\r\nmaster_replid:" + history() + "\r\n");
  }
  if (w[0] == "PUBSUB" && w.size() == 3 && w[1] == "SHARDNUMSUB") {
    return list({text(w[2]), number(listeners_at(w[2]))});
  }
  std::optional<value> got = keys_.carry_out(w, now());
  return got ? std::move(*got) : error("ERR Unknown Redis command called from script");
}

/// Returns the number of clients to whose sockets the message was written. The server cannot know whether they read it.
value redis_server::spublish(const words& w) {
  std::int64_t reached = 0;
  for (const auto& [c, p] : peers_) {
    if (!p.channels.contains(w[1])) continue;
    ++reached;
    messages_.emplace_back(c, encoded(pushed({text("smessage"), text(w[1]), text(w[2])})));
  }
  world_.note("publish", static_cast<std::uint64_t>(reached));
  return number(reached);
}

std::int64_t redis_server::listeners_at(const std::string& channel) const {
  return std::count_if(peers_.begin(), peers_.end(),
                       [&](const auto& p) { return p.second.channels.contains(channel); });
}

std::string redis_server::history() const {
  char digits[41];
  std::snprintf(digits, sizeof digits, "%020llx%020llx", static_cast<unsigned long long>(promotion_),
                static_cast<unsigned long long>(starts_));
  return digits;
}

void redis_server::restart(bool with_data) {
  world_.note("restart", with_data ? 1 : 0, peers_.size());
  ++starts_;
  lua_.flush();
  started_ = now().us / 1'000'000;
  if (!with_data) {
    keys_.clear();
    audit_.forgot();
  }
  for (const auto& [c, p] : std::exchange(peers_, {})) p.hang_up();
}

void redis_server::flush_scripts() {
  world_.note("flush");
  lua_.flush();
}

void redis_server::set_clock(real by) {
  world_.note("clock", static_cast<std::uint64_t>(by.count()));
  set_forward_ += by;
}

void redis_server::stand_still_until(real when) {
  world_.note("still", static_cast<std::uint64_t>(when.count()));
  still_until_ = std::max(still_until_, when);
}

void redis_server::take_for_another(const std::string& lock, std::chrono::milliseconds ttl) {
  if (keys_.text_at(lock, now())) return;
  world_.note("foreign");
  (void)keys_.carry_out({"SET", lock, "0123456789abcdef0123456789abcdef", "PX", std::to_string(ttl.count())}, now());
}

std::string redis_server::leftovers() const {
  std::string held;
  for (const std::string& key : keys_.all(now())) {
    const auto cell = keys_.text_at(key, now());
    if (!key.ends_with("}") || !cell) continue;
    if (lock_state(cell->value).is != lock_state::form::permits) {
      held += key + " is still held by " + cell->value + "; ";
      continue;
    }
    // The permits of dead holders are counted until the next poll, so a semaphore may be left, but no holder.
    for (const auto& [who, until] : keys_.scores_of(key + ":h", now())) {
      if (until > now().ms()) held += key + " is still held by " + who + "; ";
    }
  }
  return held;
}

}  // namespace holdfast::sim
