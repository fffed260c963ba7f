#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls.hpp"
#include "net/url.hpp"

namespace holdfast::redis {

using std::chrono::milliseconds;

/// What a URL says about a Redis server, and how we use it:
///   redis://[user[:password]@]host[:port][/database]    rediss:// with TLS; valkey://, valkeys:// the same
///   redis+unix:///path/of/the/socket
///   redis+cluster://[user[:password]@]node[:port],...    rediss+cluster:// with TLS
struct settings {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string path;                    ///< of a unix socket; then host and port mean nothing
  std::vector<net::url::place> seeds;  ///< nodes of a cluster, whom to ask for the others; none: it is one server
  std::optional<net::tls_files> tls;
  std::string user;
  std::string password;
  int database = 0;

  std::string prefix = "holdfast:";  ///< of all keys and channels; empty: a lock's key is its name
  std::string name = "holdfast";     ///< of our connections, in CLIENT LIST
  milliseconds timeout{1'000};       ///< a connection silent for so long with replies due is dropped
  milliseconds connect_timeout{2'000};
  unsigned lanes = 4;      ///< connections for blocking callers, at most
  milliseconds poll{200};  ///< how often a lock that is held by another library is looked at
  double jitter = 0.5;     ///< that interval varies by so much, up and down

  /// Throws seam::failure, without secrets.
  [[nodiscard]] static settings parse(std::string_view url);
  /// The URL as it may be shown, good or bad: without the password, with all that tells which locks are meant.
  [[nodiscard]] static std::string shown(std::string_view url);
  /// host:port, or the path of the socket.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] bool of_a_cluster() const noexcept { return !seeds.empty(); }
};

/// host:port, an IPv6 address in brackets.
[[nodiscard]] std::string text_of(const net::url::place&);

}  // namespace holdfast::redis
