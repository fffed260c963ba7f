#include "redis/connection.hpp"

#include <algorithm>
#include <utility>

#include "net/ready.hpp"
#include "net/socket.hpp"
#include "redis/error_reply.hpp"
#include "runtime/clock.hpp"
#include "store/answer.hpp"

namespace holdfast::redis {

namespace {

/// Sends all of it, and waits for one reply. For the handshake.
value ask(connection& c, const command& what, const limit& l) {
  std::string bytes = what.bytes();
  for (;;) {
    const bool sent = c.send(bytes);
    if (std::optional<value> v = c.next()) return std::move(*v);
    const net::readiness why = sent ? net::wait_readable(c.fd(), l) : net::wait_writable(c.fd(), l);
    if (why != net::readiness::ready) {
      throw net::broken(why == net::readiness::late ? "no answer to the greeting" : "asked to stop");
    }
    if (sent) (void)c.receive();
  }
}

/// What a server says of a command that it does not know repeats it, or as much of it as it has room for.
value without_secret(value v, const std::string& secret) {
  v.text.resize(std::min(v.text.size(), v.text.find(", with args")));
  if (secret.empty()) return v;
  for (std::size_t at = v.text.find(secret); at != std::string::npos; at = v.text.find(secret, at + 3)) {
    v.text.replace(at, secret.size(), "***");
  }
  return v;
}

void demand(connection& c, const command& what, const settings& s, const limit& l) {
  const value v = without_secret(ask(c, what, l), s.password);
  if (v.is(value::kind::error)) throw meaning_of(v.text, s.prefix);
}

/// Names and values in turn, as a server of RESP3 greets.
bool is_of_a_cluster(const value& greeting) {
  for (std::size_t n = 0; n + 1 < greeting.items.size(); n += 2) {
    if (greeting.items[n].text == "mode") return greeting.items[n + 1].text == "cluster";
  }
  return false;
}

std::unique_ptr<net::stream> connected(const settings& s, const limit& l) {
  if (!s.path.empty()) return net::connect({net::unix_address(s.path)}, s.timeout, l);
  return net::connect(net::resolve(s.host, s.port, l), s.timeout, l);
}

}  // namespace

bool connection::send(std::string& bytes) {
  while (!bytes.empty()) {
    const std::size_t n = bytes_->send(bytes);
    if (n == 0) return false;
    bytes.erase(0, n);
  }
  return true;
}

bool connection::receive() {
  char buffer[16 * 1024];
  for (std::size_t came = 0; came < most_at_once;) {
    const std::size_t n = bytes_->receive(buffer);
    decoder_.feed({buffer, n});
    came += n;
    if (n < sizeof buffer) return came != 0;
  }
  throw net::broken("the server sends without end");
}

bool connection::receive_soon() {
  char buffer[16 * 1024];
  const std::size_t n = bytes_->receive_soon(buffer);
  decoder_.feed({buffer, n});
  return n != 0;
}

dialer::dialer(settings s) : settings_(std::move(s)) {
  try {
    if (settings_.tls) tls_.emplace(*settings_.tls);
  } catch (const net::broken& e) {
    throw seam::failure(errc::bad_option, e.what());
  }
}

std::unique_ptr<net::stream> dialer::reach(const limit& l) const {
  std::unique_ptr<net::stream> plain = connected(settings_, l);
  return tls_ ? tls_->secure(std::move(plain), settings_.host, l) : std::move(plain);
}

std::unique_ptr<connection> dialer::open(const limit& l) const {
  std::string why;
  bool for_good = false;
  bool connected = false;
  try {
    auto made = std::make_unique<connection>(reach(l), true);
    connected = true;
    greet(*made, l);
    return made;
  } catch (const net::broken& e) {
    why = e.what();
    for_good = e.for_good();
  } catch (const malformed& e) {
    why = std::string("not the words of a Redis server: ") + e.what();
  }
  const bool in_time = boot_clock::now() < l.at() && !l.stop().stop_requested();
  // A server that waits for TLS hangs up on plain words.
  if (connected && in_time && !tls_ && settings_.path.empty()) why += "; does the server want TLS? then say rediss://";
  throw seam::failure(for_good ? errc::denied : errc::unreachable, why + " (" + settings_.where() + ")");
}

void dialer::greet(connection& c, const limit& l) const {
  const bool secret = !settings_.password.empty();
  const bool named = !settings_.name.empty();
  command hello(2u + (secret ? 3u : 0u) + (named ? 2u : 0u));
  hello.add("HELLO").add("3");
  if (secret) hello.add("AUTH").add(settings_.user.empty() ? "default" : settings_.user).add(settings_.password);
  if (named) hello.add("SETNAME").add(settings_.name);
  const value v = without_secret(ask(c, hello, l), settings_.password);
  if (v.is(value::kind::error)) {
    const bool unknown = v.text.starts_with("ERR unknown command") || v.text.starts_with("ERR Unknown command") ||
                         v.text.starts_with("NOPROTO");
    if (!unknown) throw meaning_of(v.text, settings_.prefix);
    greet_in_resp2(c, l);
  }
  if (settings_.of_a_cluster() && !is_of_a_cluster(v)) {
    throw seam::failure(errc::unsupported,
                        "this is no node of a cluster: write redis:// for one server (" + settings_.where() + ")");
  }
  if (!settings_.of_a_cluster() && is_of_a_cluster(v)) {  // a lock that is waited for would not be handed on there
    throw seam::failure(errc::unsupported, "this is a node of a cluster: write redis+cluster:// for all of it (" +
                                               settings_.where() + ")");
  }
  if (settings_.database != 0) {
    command select(2);
    select.add("SELECT").add(settings_.database);
    demand(c, select, settings_, l);
  }
}

void dialer::greet_in_resp2(connection& c, const limit& l) const {
  c.speaks_resp2();
  if (!settings_.password.empty()) {
    command auth(settings_.user.empty() ? 2 : 3);
    auth.add("AUTH");
    if (!settings_.user.empty()) auth.add(settings_.user);
    auth.add(settings_.password);
    demand(c, auth, settings_, l);
  }
}

void dialer::subscribe(connection& c, const std::string& channel, const limit& l) const {
  command subscribe(2);
  subscribe.add("SSUBSCRIBE").add(channel);
  try {
    demand(c, subscribe, settings_, l);  // with RESP3 its reply is a push
  } catch (const net::broken& e) {
    throw seam::failure(errc::unreachable, std::string(e.what()) + " (" + settings_.where() + ")");
  }
}

}  // namespace holdfast::redis
