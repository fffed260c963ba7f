#include "redis/doctor/required_permissions.hpp"

#include <algorithm>
#include <iterator>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/script.hpp"

namespace holdfast::redis {

namespace {

constexpr permission all_permissions[] = {
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

constexpr permission to_wait{"wait", "WAIT 0 1"};
constexpr permission of_a_cluster[] = {{"asking", "ASKING"}, {"cluster|slots", "CLUSTER SLOTS"}};
constexpr permission to_know_the_role{"role", "ROLE"};
constexpr permission to_wait_for_disks[] = {
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

std::span<const permission> required_permissions() noexcept { return all_permissions; }

std::vector<permission> permissions_for(const settings& s) {
  std::vector<permission> some;
  if (s.of_a_cluster()) some.assign(std::begin(of_a_cluster), std::end(of_a_cluster));
  const bool counts = s.wait.by != acknowledgement::count::number;
  if (s.sentinels || counts) some.push_back(to_know_the_role);
  if (counts || s.wait.replicas > 0) some.push_back(to_wait);
  if (s.wait.on_disks != acknowledgement::disks::none) {
    some.insert(some.end(), std::begin(to_wait_for_disks), std::end(to_wait_for_disks));
  }
  return some;
}

command form_of(const permission& wanted, std::string_view key, std::string_view channel) {
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

// The wording differs between versions, but an error about a command always says "to run the".
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

server_info refusals::facts(std::string_view user, std::string_view prefix) const {
  const std::string pattern = std::string(prefix.empty() ? "holdfast:" : prefix) + "*'";
  std::string grant(user.empty() ? "default" : user);
  if (!rights_.empty()) grant += " " + list_of(rights_, "+");
  if (keys_) grant += " '~" + pattern;
  if (channels_) grant += " '&" + pattern;
  const bool only_patterns = rights_.empty() && (keys_ || channels_);
  server_info k;
  k.set("unknown_commands", list_of(unknown_, ""));
  k.set("missing_rights", only_patterns ? "the keys or the channels of locks" : list_of(rights_, "+"));
  k.set("granting_rights", grant);
  return k;
}

}  // namespace holdfast::redis
