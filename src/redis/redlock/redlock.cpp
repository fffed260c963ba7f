#include "redis/redlock/redlock.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "net/url.hpp"
#include "redis/redlock/voter.hpp"
#include "redis/transport/connection.hpp"
#include "storage/answer.hpp"
#include "storage/findings.hpp"

namespace holdfast::redis {

namespace {

constexpr std::size_t min_servers = 3, max_servers = 32;
constexpr std::string_view own_options[] = {"max_ttl", "young_nodes", "min_margin"};

[[noreturn]] void refuse(const std::string& why) { throw storage::failure(errc::bad_url, why); }

struct scheme {
  std::string_view name;
  std::string_view of_one;  ///< in the URL of one server
  bool sockets = false;
};
constexpr scheme schemes[] = {
    {"redlock://", "redis://"}, {"redlocks://", "rediss://"}, {"redlock+unix://", "redis+unix://", true}};

/// The parts of a URL that all servers share, and those of each server. The texts are still percent-encoded.
struct pieces {
  std::string before;              ///< scheme, user and password
  std::vector<std::string> hosts;  ///< or paths
  std::string behind;              ///< database and options
  std::string max_ttl, young_nodes, min_margin;

  [[nodiscard]] std::string* own(std::string_view option) {
    if (option == "max_ttl") return &max_ttl;
    if (option == "young_nodes") return &young_nodes;
    return option == "min_margin" ? &min_margin : nullptr;
  }
};

std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Removes our own options and returns those of each server.
std::string take_options(std::string_view query, pieces& into) {
  std::string others;
  for (const std::string& each : split(query, '&')) {
    const std::string_view name = std::string_view(each).substr(0, each.find('='));
    std::string* const own = into.own(name);
    if (own == nullptr) {
      if (!each.empty()) others.append(others.empty() ? "?" : "&").append(each);
    } else if (each.size() <= name.size() + 1) {
      refuse("the option '" + std::string(name) + "' is empty");
    } else if (!own->empty()) {
      refuse("the option '" + std::string(name) + "' is given twice");
    } else {
      *own = each.substr(name.size() + 1);
    }
  }
  return others;
}

std::size_t margin_in(const std::string& text, std::size_t servers) {
  const std::size_t largest = (servers - 1) / 2;
  std::size_t margin = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), margin);
  if (error != std::errc() || end != text.data() + text.size() || margin > largest) {
    refuse("the option 'min_margin' is a number from 0 to " + std::to_string(largest) + " with " +
           std::to_string(servers) + " servers: a majority of them decides, and no more than the others can be more");
  }
  return margin;
}

/// Returns the end of the last user or password before a host. A path may contain an @.
std::size_t end_of_credentials(std::string_view way) {
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < way.size(); begin = std::min(way.find(',', begin), way.size()) + 1) {
    const std::size_t at = way.find('@', begin);
    if (at < std::min(way.find('/', begin), way.size())) end = at + 1;
  }
  return end;
}

pieces cut_up(std::string_view url) {
  const auto* const is = std::find_if(std::begin(schemes), std::end(schemes),
                                      [&](const scheme& each) { return url.starts_with(each.name); });
  if (is == std::end(schemes)) refuse("independent servers are given as redlock://host:port,host:port,host:port");
  const std::string_view rest = url.substr(is->name.size());
  const std::size_t query = std::min(rest.find('?'), rest.size());
  pieces p;
  const std::string options = take_options(rest.substr(std::min(query + 1, rest.size())), p);
  const std::string_view way = rest.substr(0, query);
  const std::size_t slash = std::min(way.find('/'), way.size());
  const std::size_t at = way.substr(0, slash).rfind('@');
  const std::size_t begin = at == std::string_view::npos ? 0 : at + 1;
  try {
    net::check_credentials(way.substr(0, end_of_credentials(way)));
  } catch (const net::bad_url& e) {
    refuse(e.what());
  }
  p.before = std::string(is->of_one).append(way.substr(0, begin));
  if (is->sockets) {
    if (begin != slash) refuse("unix sockets are given as redlock+unix:///path,/path,/path");
    p.hosts = split(way.substr(slash), ',');
    p.behind = options;
  } else {
    p.hosts = split(way.substr(begin, slash - begin), ',');
    p.behind = std::string(way.substr(slash)).append(options);
  }
  return p;
}

}  // namespace

redlock redlock::parse(std::string_view url) {
  const pieces p = cut_up(url);
  redlock all;
  if (!p.max_ttl.empty()) all.max_ttl = duration_in("max_ttl", p.max_ttl);
  if (!p.young_nodes.empty() && p.young_nodes != "vote") refuse("the option 'young_nodes' can only be 'vote'");
  all.young_ones_vote = !p.young_nodes.empty();
  std::set<std::string> known;
  for (const std::string& host : p.hosts) {
    if (host.empty()) refuse("between two commas of the URL there is no server");
    settings& one = all.servers.emplace_back(settings::parse(p.before + host + p.behind, own_options));
    if (!all.young_ones_vote) one.votes_after = all.max_ttl;
    if (one.wait.is_wanted()) {
      refuse(
          "wait_replicas and wait_aof are for one server and its replicas; here a majority of servers has every lock");
    }
    if (!known.insert(one.where()).second) refuse("the server " + one.where() + " is given twice: it has one vote");
  }
  if (all.servers.size() < min_servers || all.servers.size() > max_servers) {
    refuse("from " + std::to_string(min_servers) + " to " + std::to_string(max_servers) +
           " independent servers can vote, best 3 or 5; of fewer none may fail, and redis:// does as well");
  }
  if (!p.min_margin.empty()) all.min_margin = margin_in(p.min_margin, all.servers.size());
  return all;
}

std::string redlock::shown(std::string_view url) { return settings::shown(url, own_options); }

std::vector<std::unique_ptr<storage::voter>> redlock::open(runtime::loop& loop) const {
  std::vector<std::unique_ptr<storage::voter>> all;
  all.reserve(servers.size());
  settings first = servers.front();
  load_tls(first);
  for (settings each : servers) {
    each.tls_context = first.tls_context;
    all.push_back(std::make_unique<voter>(client::open(std::move(each), loop), voter::rules{max_ttl, young_ones_vote}));
  }
  return all;
}

std::vector<finding> redlock::findings() const {
  storage::findings found;
  if (young_ones_vote) {
    found.warning("redlock.young_nodes", "Servers vote as soon as they are started (young_nodes=vote).",
                  "A server that restarts empty has forgotten its vote, and may vote for a second holder.",
                  "Take young_nodes=vote out of the URL, once all servers have been up for max_ttl");
  } else {
    found.fine("redlock.young_nodes", "A server that was started votes only when all locks from before are over.");
  }
  return found.take();
}

}  // namespace holdfast::redis
