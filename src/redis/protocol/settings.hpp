#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls.hpp"
#include "net/url.hpp"

namespace holdfast::redis {

using std::chrono::milliseconds;

/// The sentinels that name the primary.
struct sentinel_settings {
  std::vector<net::endpoint> at;
  std::string service;  ///< its name at the sentinels
  std::string user;     ///< at the sentinels, which have their own credentials
  std::string password;
};

/// Where a grant must be stored, besides the memory of the primary, before it counts.
struct acknowledgement {
  enum class count { number, majority, all };
  enum class disks { none, local, replicas };
  count by = count::number;
  int replicas = 0;              ///< if counted by number
  disks on_disks = disks::none;  ///< local: the disk of the primary; replicas: also those of the counted replicas
  milliseconds limit{200};

  [[nodiscard]] bool is_wanted() const noexcept {
    return by != count::number || replicas > 0 || on_disks != disks::none;
  }
};

/// The URL of a Redis server:
///   redis://[user[:password]@]host[:port][/database]    rediss:// with TLS; valkey://, valkeys:// the same
///   redis+unix:///path/of/the/socket
///   redis+sentinel://[user[:password]@]sentinel[:port],.../service[/database]    rediss+sentinel:// with TLS
///   redis+cluster://[user[:password]@]node[:port],...    rediss+cluster:// with TLS
struct settings {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string path;                            ///< unix socket; replaces host and port
  std::optional<sentinel_settings> sentinels;  ///< replace host and port
  std::vector<net::endpoint> seeds;  ///< nodes of a cluster through which the others are found; empty for one server
  std::optional<net::tls_files> tls;
  std::shared_ptr<const net::tls> tls_context;  ///< loaded from these files by load_tls(); all copies share it
  std::string user;
  std::string password;
  int database = 0;

  std::string prefix = "holdfast:";  ///< of all keys and channels; if it is empty, a lock's key is its name
  std::string name = "holdfast";     ///< of our connections in CLIENT LIST
  milliseconds timeout{1'000};       ///< a connection that is silent for this long while replies are due is dropped
  milliseconds connect_timeout{2'000};
  unsigned lanes = 4;                         ///< the largest number of connections for blocking callers
  milliseconds poll{200};                     ///< polling interval for a lock that another library holds
  double jitter = 0.5;                        ///< the share by which that interval varies
  acknowledgement wait;                       ///< replicas and disks
  std::optional<milliseconds> votes_after{};  ///< Redlock only: the uptime after which the server votes

  /// Throws storage::failure, without secrets. `also` names options of other readers of the URL, for error messages.
  [[nodiscard]] static settings parse(std::string_view url, std::span<const std::string_view> also = {});
  /// Returns the URL, valid or not, without secrets. `also` names further options that are not secret.
  [[nodiscard]] static std::string shown(std::string_view url, std::span<const std::string_view> also);
  [[nodiscard]] static std::string shown(std::string_view url) { return shown(url, {}); }
  /// Returns host:port, the path of the socket, or the service and its sentinels.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] bool of_a_cluster() const noexcept { return !seeds.empty(); }
  /// Whether all replies come from one server, so that its times can be compared.
  [[nodiscard]] bool of_one_clock() const noexcept { return !of_a_cluster() && !sentinels; }
};

/// Reads the value of an option such as 500ms or 2s. Throws storage::failure.
[[nodiscard]] milliseconds duration_in(const std::string& option, std::string_view text);

/// Returns host:port, with an IPv6 address in brackets.
[[nodiscard]] std::string text_of(const net::endpoint&);

}  // namespace holdfast::redis
