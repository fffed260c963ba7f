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

/// What a URL says about several servers that know nothing of one another:
///   redlock://[user[:password]@]host[:port],host[:port],host[:port][/database][?options]    redlocks:// with TLS
///   redlock+unix:///path/of/a/socket,/path/of/another,/path/of/a/third
/// Options are those of one server, for all of them; and
///   max_ttl      no lock may be longer: a server that was started votes after that time
///   young_nodes  vote: it votes at once
///   min_margin   by how many more than a majority a lock has to be given
struct redlock {
  std::vector<settings> servers;
  std::chrono::milliseconds max_ttl{30'000};
  bool young_ones_vote = false;
  std::size_t min_margin = 0;

  /// Throws storage::failure, without secrets.
  [[nodiscard]] static redlock parse(std::string_view url);
  /// The URL as it may be shown, good or bad.
  [[nodiscard]] static std::string shown(std::string_view url);

  /// One vote each. Throws storage::failure.
  [[nodiscard]] std::vector<std::unique_ptr<storage::voter>> open(runtime::loop&) const;
  /// What somebody should know of how it is set up.
  [[nodiscard]] std::vector<finding> findings() const;
};

}  // namespace holdfast::redis
