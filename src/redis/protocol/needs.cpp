#include "redis/protocol/needs.hpp"

#include <algorithm>
#include <iterator>

#include "redis/protocol/script.hpp"

namespace holdfast::redis {

namespace {

constexpr need all_needs[] = {
    {"evalsha", "EVALSHA 0000000000000000000000000000000000000000 0"},
    {"script|load", "SCRIPT LOAD S"},
    {"get", "GET K"},
    {"mget", "MGET K"},
    {"getrange", "GETRANGE K 0 0"},
    {"set", "SET K m XX"},
    {"del", "DEL K"},
    {"exists", "EXISTS K"},
    {"pexpire", "PEXPIRE K 1"},
    {"pexpireat", "PEXPIREAT K 1"},
    {"pttl", "PTTL K"},
    {"time", "TIME"},
    {"zadd", "ZADD K XX 0 m"},
    {"zrem", "ZREM K m"},
    {"zremrangebyrank", "ZREMRANGEBYRANK K 0 0"},
    {"zrange", "ZRANGE K 0 0"},
    {"zrank", "ZRANK K m"},
    {"zscan", "ZSCAN K 0"},
    {"zscore", "ZSCORE K m"},
    {"zpopmin", "ZPOPMIN K"},
    {"zcard", "ZCARD K"},
    {"zcount", "ZCOUNT K 0 0"},
    {"spublish", "SPUBLISH C m"},
    {"pubsub|shardnumsub", "PUBSUB SHARDNUMSUB C"},
    {"info", "INFO replication"},
};

constexpr need to_wait{"wait", "WAIT 0 1"};
constexpr need of_a_cluster[] = {{"asking", "ASKING"}, {"cluster|slots", "CLUSTER SLOTS"}};
constexpr need to_know_the_role{"role", "ROLE"};
constexpr need to_wait_for_disks[] = {
    {"command|info", "COMMAND INFO GET"},
    {"waitaof", "WAITAOF 0 0 1"},
};

bool says(std::string_view error, std::string_view words) { return error.find(words) != std::string_view::npos; }

std::string list_of(const std::vector<std::string>& all, std::string_view before) {
  std::string text;
  for (const std::string& each : all) text.append(text.empty() ? "" : " ").append(before).append(each);
  return text;
}

}  // namespace

std::span<const need> needs() noexcept { return all_needs; }

std::vector<need> needs_of(const settings& s) {
  std::vector<need> some;
  if (s.of_a_cluster()) some.assign(std::begin(of_a_cluster), std::end(of_a_cluster));
  const bool counts = s.wait.by != acknowledgement::count::number;
  if (s.sentinels || counts) some.push_back(to_know_the_role);
  if (counts || s.wait.replicas > 0) some.push_back(to_wait);
  if (s.wait.on_disks != acknowledgement::disks::none) {
    some.insert(some.end(), std::begin(to_wait_for_disks), std::end(to_wait_for_disks));
  }
  return some;
}

command form_of(const need& wanted, std::string_view key, std::string_view channel) {
  const std::string_view form = wanted.form;
  command c(static_cast<std::size_t>(std::ranges::count(form, ' ')) + 1);
  for (std::size_t at = 0; at <= form.size();) {
    const std::size_t end = std::min(form.find(' ', at), form.size());
    const std::string_view word = form.substr(at, end - at);
    c.add(word == "K" ? key : word == "C" ? channel : word == "S" ? scripts::inspect.text : word);
    at = end + 1;
  }
  return c;
}

bool is_forbidden(std::string_view error) noexcept { return error.starts_with("NOPERM"); }

bool is_unknown_command(std::string_view error) noexcept {
  return error.starts_with("ERR unknown command") || error.starts_with("ERR Unknown command") ||
         error.starts_with("ERR unknown subcommand") || error.starts_with("ERR Unknown subcommand");
}

// Servers say it in other words from version to version; but a right to a command is always one to run it.
void refusals::add(std::string_view right, std::string_view error) {
  if (is_unknown_command(error)) unknown_.emplace_back(right);
  if (!is_forbidden(error)) return;
  if (says(error, "to run the")) {
    rights_.emplace_back(right);
  } else if (says(error, "channel")) {
    channels_ = true;
  } else {
    keys_ = true;
  }
}

void refusals::judge(std::string_view user, std::string_view prefix, storage::findings& found) const {
  if (unknown_.empty()) {
    found.fine("redis.commands", "The server knows all commands that locks need.");
  } else {
    found.danger("redis.commands", "The server does not know " + list_of(unknown_, "") + ".",
                 "Locks need these commands, and fail without them.",
                 "Use Redis 7.0 or Valkey 7.2, or later, and take them out of rename-command in its configuration");
  }
  if (rights_.empty() && !keys_ && !channels_) {
    return found.fine("redis.rights", "The user has every right that locks need.");
  }
  const std::string pattern = std::string(prefix.empty() ? "holdfast:" : prefix) + "*'";
  std::string cure = "ACL SETUSER " + std::string(user.empty() ? "default" : user);
  if (!rights_.empty()) cure += " " + list_of(rights_, "+");
  if (keys_) cure += " '~" + pattern;
  if (channels_) cure += " '&" + pattern;
  const std::string what = rights_.empty() ? "the keys or the channels of locks" : list_of(rights_, "+");
  found.danger("redis.rights", "The user lacks rights that locks need: " + what + ".",
               "Locks fail with NOPERM: some at once, others when they have to be waited for or renewed.",
               cure + "; then ACL SAVE, or CONFIG REWRITE where there is no ACL file");
}

}  // namespace holdfast::redis
