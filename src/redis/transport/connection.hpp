#pragma once
#include <memory>
#include <optional>
#include <string>

#include "holdfast/limit.hpp"
#include "net/stream.hpp"
#include "net/tls.hpp"
#include "redis/protocol/codec.hpp"
#include "redis/protocol/settings.hpp"

namespace holdfast::redis {

/// Bytes and values of one connection to a server. One thread at a time; nothing waits, except receive_soon().
class connection {
 public:
  static constexpr std::size_t most_at_once = 1 << 18;  ///< that receive() reads

  connection(std::unique_ptr<net::stream> bytes, bool resp3) : bytes_(std::move(bytes)), resp3_(resp3) {}

  /// Sends as much as goes. False: some is left. Throws net::broken.
  bool send(std::string& bytes);
  /// Returns false if nothing came. More bytes than it reads keep the descriptor readable. Throws net::broken.
  bool receive();
  bool receive_soon();
  /// Sends it, and waits for one value: for greetings, when nothing else is due. Throws net::broken, malformed.
  [[nodiscard]] value ask(const command&, const limit&);
  /// The next value of what came; nothing: none is complete. Throws malformed.
  [[nodiscard]] std::optional<value> next() { return decoder_.next(); }

  [[nodiscard]] int fd() const noexcept { return bytes_->fd(); }
  /// Pushes come between replies. Else a connection that has subscribed takes no commands.
  [[nodiscard]] bool resp3() const noexcept { return resp3_; }
  void speaks_resp2() noexcept { resp3_ = false; }

 private:
  std::unique_ptr<net::stream> bytes_;
  decoder decoder_;
  bool resp3_;
};

/// Connects to a host, with TLS if there is some. Throws net::broken, std::system_error.
[[nodiscard]] std::unique_ptr<net::stream> reach(const net::url::place&, milliseconds timeout, const net::tls*,
                                                 const limit&);
/// What a server says of a command that it does not know repeats it, or as much of it as it has room for.
[[nodiscard]] value without_secret(value, const std::string& secret);

class sentinels;

/// Opens connections to one server, or to whichever the sentinels name.
class dialer {
 public:
  /// Throws storage::failure if settings::load_tls() was not called before, and fails.
  explicit dialer(settings);
  ~dialer();
  [[nodiscard]] const settings& how() const noexcept { return settings_; }

  /// Null: there are none.
  [[nodiscard]] sentinels* asks() const noexcept { return sentinels_.get(); }

  /// A connection that takes commands: greeted, authorised, in its database; where sentinels are asked, to a server
  /// that says itself that it is a primary. Blocks; throws storage::failure.
  [[nodiscard]] std::unique_ptr<connection> open(const limit&) const;
  /// The same, to that server, whatever it is.
  [[nodiscard]] std::unique_ptr<connection> open_at(const net::url::place&, const limit&) const;
  /// Whether the server says itself that it is a primary. Blocks; throws net::broken, malformed, storage::failure.
  [[nodiscard]] bool leads(connection&, const limit&) const;
  /// Subscribes it. Blocks; throws storage::failure.
  void subscribe(connection&, const std::string& channel, const limit&) const;

 private:
  [[nodiscard]] std::unique_ptr<connection> open_primary(const limit&) const;
  void demand_primary(connection&, const net::url::place&, const limit&) const;
  [[nodiscard]] std::string where(const net::url::place&) const;
  void greet(connection&, const limit&) const;
  void greet_in_resp2(connection&, const limit&) const;
  settings settings_;
  std::unique_ptr<sentinels> sentinels_;
};

}  // namespace holdfast::redis
