#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "holdfast/limit.hpp"
#include "net/stream.hpp"
#include "net/tls.hpp"
#include "redis/protocol/codec.hpp"
#include "redis/protocol/settings.hpp"

namespace holdfast::redis {

/// Carries the values of one connection to a server. Used by one thread at a time. Only receive_soon() blocks.
class connection {
 public:
  static constexpr std::size_t most_at_once = 1 << 18;  ///< bytes that one receive() reads, at most

  connection(std::unique_ptr<net::stream> bytes, bool resp3) : bytes_(std::move(bytes)), resp3_(resp3) {}

  /// Sends as much as possible and removes it. Returns false if some is left. Throws net::broken.
  bool send(std::string& bytes);
  /// Returns false if nothing came. If more is there than it reads, the descriptor stays readable. Throws net::broken.
  bool receive();
  bool receive_soon();
  /// Sends a command and waits for one value. For greetings, when no other reply is due. Throws net::broken, malformed.
  [[nodiscard]] value ask(const command&, const limit&);
  /// Returns the next value received, if it is complete. Throws malformed.
  [[nodiscard]] std::optional<value> next() { return decoder_.next(); }

  [[nodiscard]] int fd() const noexcept { return bytes_->fd(); }
  /// With RESP3 messages come between replies. With RESP2 a connection that has subscribed takes no commands.
  [[nodiscard]] bool resp3() const noexcept { return resp3_; }
  void speaks_resp2() noexcept { resp3_ = false; }

 private:
  std::unique_ptr<net::stream> bytes_;
  decoder decoder_;
  bool resp3_;
};

/// Connects to a host, with TLS unless it is null. Throws net::broken, std::system_error.
[[nodiscard]] std::unique_ptr<net::stream> open_stream(const net::endpoint&, milliseconds timeout, const net::tls*,
                                                       const limit&);
/// Removes a secret from an error: an error about an unknown command repeats the command, as far as there is room.
[[nodiscard]] value without_secret(value, const std::string& secret);

/// Reads the TLS files, if that has not been done. A store does so when it is opened, before its settings are copied to
/// each connection, because a file may be gone when a node or sentinel is first contacted. Throws storage::failure.
void load_tls(settings&);

class sentinels;

/// Opens connections to one server, or to the primary that the sentinels name.
class dialer {
 public:
  /// Loads the TLS files unless they are loaded. Throws storage::failure if it fails.
  explicit dialer(settings);
  ~dialer();
  [[nodiscard]] const settings& config() const noexcept { return settings_; }
  /// Adds to an error text where the server is.
  [[nodiscard]] std::string located(std::string text) const { return std::move(text) + " (" + settings_.where() + ")"; }

  /// Null without sentinels.
  [[nodiscard]] sentinels* asks() const noexcept { return sentinels_.get(); }

  /// Opens a connection that takes commands: greeted, authenticated, with its database selected. With sentinels it
  /// leads to a server whose own ROLE says that it is a primary. Blocks; throws storage::failure.
  [[nodiscard]] std::unique_ptr<connection> open(const limit&) const;
  /// Opens one to a given server, whatever its role.
  [[nodiscard]] std::unique_ptr<connection> open_at(const net::endpoint&, const limit&) const;
  /// Whether the server's own ROLE says that it is a primary. Blocks; throws net::broken, malformed, storage::failure.
  [[nodiscard]] bool is_primary(connection&, const limit&) const;
  /// Subscribes a connection. Blocks; throws storage::failure.
  void subscribe(connection&, const std::string& channel, const limit&) const;

 private:
  [[nodiscard]] std::unique_ptr<connection> open_primary(const limit&) const;
  void require_primary(connection&, const net::endpoint&, const limit&) const;
  [[nodiscard]] std::string where(const net::endpoint&) const;
  void greet(connection&, const limit&) const;
  void greet_in_resp2(connection&, const limit&) const;
  settings settings_;
  std::unique_ptr<sentinels> sentinels_;
};

}  // namespace holdfast::redis
