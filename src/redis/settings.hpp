#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/tls.hpp"

namespace holdfast::redis {

using std::chrono::milliseconds;

/// What a URL says about a Redis server, and how we use it:
///   redis://[user[:password]@]host[:port][/database]    rediss:// with TLS; valkey://, valkeys:// the same
///   redis+unix:///path/of/the/socket
struct settings {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string path;  ///< of a unix socket; then host and port mean nothing
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
  /// `also` are options of others, which are no secrets either.
  [[nodiscard]] static std::string shown(std::string_view url, std::span<const std::string_view> also);
  [[nodiscard]] static std::string shown(std::string_view url) { return shown(url, {}); }
  /// host:port, or the path of the socket.
  [[nodiscard]] std::string where() const;
};

/// The time that an option says, such as 500ms or 2s. Throws seam::failure.
[[nodiscard]] milliseconds duration_in(const std::string& option, std::string_view text);

}  // namespace holdfast::redis
