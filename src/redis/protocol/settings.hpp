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

/// Who says where the primary is.
struct sentinel_settings {
  std::vector<net::endpoint> at;
  std::string service;  ///< as they know it
  std::string user;     ///< of the sentinels, which have credentials of their own
  std::string password;
};

/// What must have a grant besides the memory of the primary, before it counts.
struct acknowledgement {
  enum class count { number, majority, all };
  enum class disks { none, local, replicas };
  count by = count::number;
  int replicas = 0;              ///< of a number
  disks on_disks = disks::none;  ///< local: of the primary; replicas: of those that are counted, too
  milliseconds limit{200};

  [[nodiscard]] bool is_wanted() const noexcept {
    return by != count::number || replicas > 0 || on_disks != disks::none;
  }
};

/// What a URL says about a Redis server, and how we use it:
///   redis://[user[:password]@]host[:port][/database]    rediss:// with TLS; valkey://, valkeys:// the same
///   redis+unix:///path/of/the/socket
///   redis+sentinel://[user[:password]@]sentinel[:port],.../service[/database]    rediss+sentinel:// with TLS
///   redis+cluster://[user[:password]@]node[:port],...    rediss+cluster:// with TLS
struct settings {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string path;                            ///< of a unix socket; then host and port mean nothing
  std::optional<sentinel_settings> sentinels;  ///< the same
  std::vector<net::endpoint> seeds;  ///< nodes of a cluster, whom to ask for the others; none: it is one server
  std::optional<net::tls_files> tls;
  std::shared_ptr<const net::tls> tls_context;  ///< of these files, once they are loaded; all copies share it
  std::string user;
  std::string password;
  int database = 0;

  std::string prefix = "holdfast:";  ///< of all keys and channels; empty: a lock's key is its name
  std::string name = "holdfast";     ///< of our connections, in CLIENT LIST
  milliseconds timeout{1'000};       ///< a connection silent for so long with replies due is dropped
  milliseconds connect_timeout{2'000};
  unsigned lanes = 4;                         ///< connections for blocking callers, at most
  milliseconds poll{200};                     ///< how often a lock that is held by another library is looked at
  double jitter = 0.5;                        ///< that interval varies by so much, up and down
  acknowledgement wait;                       ///< for replicas and disks
  std::optional<milliseconds> votes_after{};  ///< one server of Redlock: it does not vote before it has run this long

  /// Throws storage::failure, without secrets. `also` are options of others, whom a list of all that there are has too.
  [[nodiscard]] static settings parse(std::string_view url, std::span<const std::string_view> also = {});
  /// The URL as it may be shown, good or bad: without the password, with all that tells which locks are meant.
  /// `also` are options of others, which are no secrets either.
  [[nodiscard]] static std::string shown(std::string_view url, std::span<const std::string_view> also);
  [[nodiscard]] static std::string shown(std::string_view url) { return shown(url, {}); }
  /// Reads the TLS files, unless that is done. A store does so when it is opened, before its settings are copied to
  /// each connection: a file may be gone when a node or a sentinel is first contacted. Throws storage::failure.
  void load_tls();
  /// host:port, or the path of the socket, or the service and its sentinels.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] bool of_a_cluster() const noexcept { return !seeds.empty(); }
  /// All that we are told comes from one server, as far as anybody can say: its times may be compared.
  [[nodiscard]] bool of_one_clock() const noexcept { return !of_a_cluster() && !sentinels; }
};

/// The time that an option says, such as 500ms or 2s. Throws storage::failure.
[[nodiscard]] milliseconds duration_in(const std::string& option, std::string_view text);

/// host:port, an IPv6 address in brackets.
[[nodiscard]] std::string text_of(const net::endpoint&);

}  // namespace holdfast::redis
