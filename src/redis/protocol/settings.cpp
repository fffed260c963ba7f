#include "redis/protocol/settings.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "net/url.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

namespace {

[[noreturn]] void reject(const std::string& why) { throw storage::failure(errc::bad_url, why); }

template <class T>
T number(const std::string& option, std::string_view text, int least, int most, const char* example) {
  T n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool within = n >= static_cast<T>(least) && n <= static_cast<T>(most);  // "nan" is a double, and is not
  if (error != std::errc() || end != text.data() + text.size() || !within) {
    reject("the option '" + option + "' is a number from " + std::to_string(least) + " to " + std::to_string(most) +
           ", such as " + example);
  }
  return n;
}

}  // namespace

/// Accepts the same texts as the options of the program, see cli/text/words.cpp.
milliseconds duration_in(const std::string& option, std::string_view text) {
  struct unit {
    std::string_view name;
    double milliseconds;
  };
  constexpr unit units[] = {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 36e5}, {"d", 864e5}};
  constexpr double an_hour = 36e5;
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, std::chars_format::fixed);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto* const in =
      std::find_if(std::begin(units), std::end(units), [&](const unit& u) { return u.name == rest; });
  const double all = error == std::errc() && in != std::end(units) ? n * in->milliseconds : 0;
  if (!(all >= 1 && all <= an_hour))
    reject("the option '" + option + "' is a time from 1ms to 1h, such as 500ms or 2s");
  return milliseconds(std::llround(all));
}

namespace {

/// Reads a secret, which is the first line of a file.
std::string first_line_of(const std::string& path) {
  const auto unreadable = [&](const std::string& why) {
    reject("the password cannot be read from the file " + path + ": " + why);
  };
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) unreadable("it is a directory");
  errno = 0;
  std::ifstream file(path);
  if (!file) unreadable(std::generic_category().message(errno));
  std::string line;
  std::getline(file, line);
  if (file.bad()) unreadable(std::generic_category().message(errno));
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) unreadable("its first line is empty");
  return line;
}

std::string variable(const std::string& name) {
  // A race is only possible in a program that changes its environment while it opens stores.
  const char* text = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) reject("the variable " + name + " of the environment, which the URL names, is not set");
  if (*text == '\0') reject("the variable " + name + " of the environment, which the URL names, is empty");
  return text;
}

void set_password(std::string& into, std::string secret) {
  if (!into.empty()) reject("the password is given twice");
  into = std::move(secret);
}

/// A server that waits for replicas sends nothing, so the wait must be shorter than the timeout of the connection.
void check_wait(settings& s, bool given) {
  using disks = acknowledgement::disks;
  const bool no_replicas = s.wait.by == acknowledgement::count::number && s.wait.replicas == 0;
  if (given && !s.wait.is_wanted()) reject("the option 'wait_timeout' needs wait_replicas or wait_aof");
  if (s.wait.on_disks == disks::replicas && no_replicas) {
    reject(
        "wait_aof=replicas needs wait_replicas, which says how many of them; wait_aof=local is the server's own disk");
  }
  if (s.of_a_cluster() && s.wait.by != acknowledgement::count::number)
    reject("for a cluster wait_replicas is a number: its shards may have more replicas, or fewer");
  if (given && s.wait.limit >= s.timeout) reject("the option 'wait_timeout' must be shorter than 'timeout'");
  if (!given) s.wait.limit = std::min(s.wait.limit, std::max(s.timeout / 2, milliseconds(1)));
}

using option_text = const std::string&;

struct url_option {
  enum class scope { any_url, for_tls, for_sentinels, for_sockets };
  std::string_view name;
  void (*apply)(settings&, option_text name, option_text value);
  scope applies_to = scope::any_url;
  bool may_be_shown = true;  ///< the value is not a secret
};
using enum url_option::scope;

constexpr url_option url_options[] = {
    {"prefix", [](settings& s, option_text, option_text value) { s.prefix = value; }},
    {"timeout", [](settings& s, option_text name, option_text value) { s.timeout = duration_in(name, value); }},
    {"connect_timeout",
     [](settings& s, option_text name, option_text value) { s.connect_timeout = duration_in(name, value); }},
    {"name", [](settings& s, option_text, option_text value) { s.name = value; }},
    {"ca", [](settings& s, option_text, option_text value) { s.tls->ca = value; }, for_tls},
    {"cert", [](settings& s, option_text, option_text value) { s.tls->cert = value; }, for_tls},
    {"key", [](settings& s, option_text, option_text value) { s.tls->key = value; }, for_tls},
    {"lanes",
     [](settings& s, option_text name, option_text value) { s.lanes = number<unsigned>(name, value, 1, 256, "8"); }},
    {"poll", [](settings& s, option_text name, option_text value) { s.poll = duration_in(name, value); }},
    {"jitter",
     [](settings& s, option_text name, option_text value) { s.jitter = number<double>(name, value, 0, 1, "0.5"); }},
    {"wait_replicas",
     [](settings& s, option_text name, option_text value) {
       using count = acknowledgement::count;
       s.wait.by = value == "majority" ? count::majority : value == "all" ? count::all : count::number;
       if (s.wait.by != count::number) return;
       s.wait.replicas = number<int>(name, value, 1, 1'000, "1, or majority, or all");
     }},
    {"wait_aof",
     [](settings& s, option_text, option_text value) {
       using disks = acknowledgement::disks;
       if (value != "local" && value != "replicas") reject("the option 'wait_aof' is local or replicas");
       s.wait.on_disks = value == "local" ? disks::local : disks::replicas;
     }},
    {"wait_timeout", [](settings& s, option_text name, option_text value) { s.wait.limit = duration_in(name, value); }},
    {"password_file",
     [](settings& s, option_text, option_text value) { set_password(s.password, first_line_of(value)); }},
    {"password_env", [](settings& s, option_text, option_text value) { set_password(s.password, variable(value)); }},
    {"sentinel_user", [](settings& s, option_text, option_text value) { s.sentinels->user = value; }, for_sentinels},
    {"sentinel_password",
     [](settings& s, option_text, option_text value) { set_password(s.sentinels->password, value); }, for_sentinels,
     false},
    {"sentinel_password_file",
     [](settings& s, option_text, option_text value) { set_password(s.sentinels->password, first_line_of(value)); },
     for_sentinels},
    {"sentinel_password_env",
     [](settings& s, option_text, option_text value) { set_password(s.sentinels->password, variable(value)); },
     for_sentinels},
    {"db",
     [](settings& s, option_text name, option_text value) { s.database = number<int>(name, value, 0, 1'000'000, "1"); },
     for_sockets},
};

/// The options that apply to such a URL.
std::string options_of(const settings& s, std::span<const std::string_view> also) {
  std::string known;
  const auto add = [&](std::string_view name) { known.append(known.empty() ? "" : ", ").append(name); };
  std::ranges::for_each(also, add);
  for (const url_option& each : url_options) {
    const bool elsewhere =
        (each.applies_to == for_sentinels && !s.sentinels) || (each.applies_to == for_sockets && s.path.empty());
    if (each.may_be_shown && !elsewhere) add(each.name);
  }
  return known;
}

void set_option(settings& s, const std::string& name, const std::string& value,
                std::span<const std::string_view> also) {
  const auto* const is = std::ranges::find(url_options, name, &url_option::name);
  if (is == std::end(url_options) || (is->applies_to == for_sockets && s.path.empty())) {
    reject("there is no option '" + name + "' in such a URL; these are: " + options_of(s, also));
  }
  if (is->applies_to == for_sentinels && !s.sentinels) {
    reject("the option '" + name + "' is for redis+sentinel:// and rediss+sentinel://");
  }
  if (is->applies_to == for_tls && !s.tls) {
    reject("the option '" + name + "' needs TLS: write rediss://, valkeys://, rediss+sentinel:// or rediss+cluster://");
  }
  is->apply(s, name, value);
}

/// node,...
void set_seeds(settings& s, const net::url& u) {
  s.seeds.push_back({u.host, u.port});
  s.seeds.insert(s.seeds.end(), u.others.begin(), u.others.end());
  for (net::endpoint& each : s.seeds) {
    if (each.host.empty()) each.host = s.host;
    if (each.port == 0) each.port = s.port;
  }
  s.host = s.seeds.front().host;
  s.port = s.seeds.front().port;
  if (!u.path.empty() && u.path != "0")
    reject("a cluster has database 0 only: leave '/" + u.path + "' out of redis+cluster://node,node");
}

constexpr int default_sentinel_port = 26379;

/// sentinel,.../service[/database]
void set_sentinels(settings& s, const net::url& u) {
  const std::string how = "sentinels are given as redis+sentinel://host[:port],host[:port],.../service[/database]";
  sentinel_settings& them = s.sentinels.emplace();
  them.at.push_back({u.host, u.port});
  them.at.insert(them.at.end(), u.others.begin(), u.others.end());
  for (net::endpoint& each : them.at) {
    if (each.host.empty()) reject(how);
    if (each.port == 0) each.port = default_sentinel_port;
  }
  const std::size_t end = std::min(u.path.find('/'), u.path.size());
  them.service = u.path.substr(0, end);
  if (them.service.empty()) reject(how + "; the service is the name that they monitor, such as mymaster");
  if (end < u.path.size()) s.database = number<int>("/database", u.path.substr(end + 1), 0, 1'000'000, "/1");
}

void check_words(const settings& s) {
  if (s.prefix.size() > 128) reject("the prefix has more than 128 bytes");
  if (s.prefix.find_first_of("{}") != std::string::npos) reject("the prefix may not have braces");
  for (const char c : s.name) {
    if (c < '!' || c > '~') reject("the name may have no blanks, and letters of ASCII only: Redis refuses others");
  }
}

}  // namespace

settings settings::parse(std::string_view text, std::span<const std::string_view> also) {
  net::url u;
  try {
    u = net::url::parse(text);
  } catch (const net::bad_url& e) {
    reject(e.what());
  }
  settings s;
  constexpr std::string_view with_tls[] = {"rediss", "valkeys", "rediss+sentinel", "rediss+cluster"};
  if (std::ranges::find(with_tls, u.scheme) != std::end(with_tls)) s.tls.emplace();
  s.user = u.user;
  s.password = u.password;
  if (u.scheme == "redis+unix") {
    if (!u.host.empty() || u.port != 0 || !u.others.empty() || u.path.empty())
      reject("a unix socket is given as redis+unix:///path/of/the/socket");
    s.path = "/" + u.path;
  } else if (u.scheme.ends_with("+sentinel")) {
    set_sentinels(s, u);
  } else if (u.scheme.ends_with("+cluster")) {
    set_seeds(s, u);
  } else {
    if (!u.others.empty())
      reject("this is one server; several are those of a redis+sentinel://, a redis+cluster:// or a redlock:// URL");
    if (!u.host.empty()) s.host = u.host;
    if (u.port != 0) s.port = u.port;
    if (!u.path.empty()) s.database = number<int>("/database", u.path, 0, 1'000'000, "/1");
  }
  for (const auto& [option, value] : u.options) set_option(s, option, value, also);
  if (!s.user.empty() && s.password.empty()) {
    reject(
        "a user without a password; give it by password_file= or password_env=, or as user:password@host; "
        "a password alone is written redis://:password@host");
  }
  if (s.sentinels && !s.sentinels->user.empty() && s.sentinels->password.empty()) {
    reject("sentinel_user without a password; give it by sentinel_password_file= or sentinel_password_env=");
  }
  check_wait(s, u.options.contains("wait_timeout"));
  check_words(s);
  return s;
}

std::string settings::shown(std::string_view url, std::span<const std::string_view> also) {
  constexpr std::string_view name_the_password[] = {"password_file", "password_env"};
  std::vector<std::string_view> all;
  for (const url_option& each : url_options) {
    if (each.may_be_shown) all.push_back(each.name);
  }
  all.insert(all.end(), also.begin(), also.end());
  return net::without_secrets(url, {all, name_the_password});
}

std::string settings::where() const {
  if (!path.empty()) return path;
  if (!sentinels) return text_of({host, port});
  std::string all = "the service " + sentinels->service + " of ";
  for (const net::endpoint& each : sentinels->at)
    all.append(&each == sentinels->at.data() ? "" : ",").append(text_of(each));
  return all;
}

std::string text_of(const net::endpoint& p) {
  const bool v6 = p.host.find(':') != std::string::npos;
  return (v6 ? "[" + p.host + "]" : p.host) + ":" + std::to_string(p.port);
}

}  // namespace holdfast::redis
