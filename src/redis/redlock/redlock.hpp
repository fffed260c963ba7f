#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/finding.hpp"
#include "redis/protocol/settings.hpp"
#include "runtime/loop.hpp"
#include "storage/voter.hpp"

namespace holdfast::redis {

/// The URL of several independent servers:
///   redlock://[user[:password]@]host[:port],host[:port],host[:port][/database][?options]    redlocks:// with TLS
///   redlock+unix:///path/of/a/socket,/path/of/another,/path/of/a/third
/// The options of one server apply to all of them. Further options:
///   max_ttl      the longest ttl of a lock; a server votes only after it has been up for this long
///   young_nodes  vote: servers vote at once
///   min_margin   the number of servers beyond a majority that must grant a lock
struct redlock {
  std::vector<settings> servers;
  std::chrono::milliseconds max_ttl{30'000};
  bool young_ones_vote = false;
  std::size_t min_margin = 0;

  /// Throws storage::failure, without secrets.
  [[nodiscard]] static redlock parse(std::string_view url);
  /// Returns the URL, valid or not, without secrets.
  [[nodiscard]] static std::string shown(std::string_view url);

  /// Opens a voter for each server. Throws storage::failure.
  [[nodiscard]] std::vector<std::unique_ptr<storage::voter>> open(runtime::loop&) const;
  /// Findings about the options.
  [[nodiscard]] std::vector<finding> findings() const;
};

}  // namespace holdfast::redis
