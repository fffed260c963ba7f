#include "redis/transport/connection.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "net/ready.hpp"
#include "net/socket.hpp"
#include "redis/protocol/error_reply.hpp"
#include "redis/sentinel/sentinels.hpp"
#include "runtime/clock.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

namespace {

void require_ok(connection& c, const command& what, const settings& s, const limit& l) {
  const value v = without_secret(c.ask(what, l), s.password);
  if (v.is(value::kind::error)) throw meaning_of(v.text, s.prefix);
}

/// The kind of server, from the reply to HELLO 3: names and values in turn.
std::string_view mode_in(const value& greeting) {
  for (std::size_t n = 0; n + 1 < greeting.items.size(); n += 2) {
    if (greeting.items[n].text == "mode") return greeting.items[n + 1].text;
  }
  return {};
}

/// Throws if the server is of another kind than the URL says, with what to write instead.
void require_kind(const value& greeting, const settings& s) {
  const std::string_view is = mode_in(greeting);
  std::string why;
  if (is == "sentinel") {
    const std::string how = std::string(s.tls ? "rediss" : "redis") + "+sentinel://" + s.where();
    why = "this is a sentinel, and has no locks: write " + how + "/service, with the name of what it watches over";
  } else if (s.of_a_cluster() && is != "cluster") {
    why = "this is no node of a cluster: write redis:// for one server";
  } else if (!s.of_a_cluster() && is == "cluster") {  // a lock that is waited for would not be handed on there
    why = "this is a node of a cluster: write redis+cluster:// for all of it";
  }
  if (!why.empty()) throw storage::failure(errc::unsupported, why + " (" + s.where() + ")");
}

/// A token that stops when one of two does.
class either {
 public:
  either(const std::stop_token& one, const std::stop_token& other) : one_(one, ask{both_}), other_(other, ask{both_}) {}
  [[nodiscard]] std::stop_token get() const noexcept { return both_.get_token(); }

 private:
  struct ask {
    std::stop_source& both;
    void operator()() const noexcept { both.request_stop(); }
  };
  std::stop_source both_;
  const std::stop_callback<ask> one_, other_;
};

storage::failure unreachable(const net::broken& e, const std::string& where) {
  storage::failure why(errc::unreachable, std::string(e.what()) + " (" + where + ")");
  why.is_late = e.is_late();
  return why;
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
  std::size_t came = 0;
  for (bool more = true; more && came < most_at_once;) {
    const std::size_t n = bytes_->receive(buffer);
    decoder_.feed({buffer, n});
    came += n;
    more = n == sizeof buffer;
  }
  return came != 0;
}

bool connection::receive_soon() {
  char buffer[16 * 1024];
  const std::size_t n = bytes_->receive_soon(buffer);
  decoder_.feed({buffer, n});
  return n != 0;
}

value connection::ask(const command& what, const limit& l) {
  std::string bytes = what.bytes();
  for (;;) {
    bool sent = false;
    try {
      sent = send(bytes);
    } catch (const net::broken&) {  // the server may have said why before it hung up
      (void)receive();
      if (std::optional<value> v = next()) return std::move(*v);
      throw;
    }
    if (std::optional<value> v = next()) return std::move(*v);
    const net::readiness why = sent ? net::wait_readable(fd(), l) : net::wait_writable(fd(), l);
    if (why == net::readiness::stopped) throw net::broken("asked to stop");
    if (why == net::readiness::late) throw net::broken::late("no answer to the greeting");
    if (sent) (void)receive();
  }
}

std::unique_ptr<net::stream> open_stream(const net::endpoint& to, milliseconds timeout, const net::tls* tls,
                                         const limit& l) {
  std::unique_ptr<net::stream> plain = net::connect(net::resolve(to.host, to.port, l), timeout, l);
  return tls != nullptr ? tls->secure(std::move(plain), to.host, l) : std::move(plain);
}

value without_secret(value v, const std::string& secret) {
  v.text.resize(std::min(v.text.size(), v.text.find(", with args")));
  if (secret.empty()) return v;
  const std::size_t code =
      std::min(v.text.find(' '), v.text.size());  // the error code is the server's own, and is read later
  for (std::size_t at = v.text.find(secret, code); at != std::string::npos; at = v.text.find(secret, at + 3)) {
    v.text.replace(at, secret.size(), "***");
  }
  return v;
}

void load_tls(settings& s) {
  if (!s.tls || s.tls_context) return;
  try {
    s.tls_context = std::make_shared<const net::tls>(*s.tls);
  } catch (const net::broken& e) {
    throw storage::failure(errc::bad_option, e.what());
  }
}

dialer::dialer(settings s) : settings_(std::move(s)) {
  load_tls(settings_);
  if (settings_.sentinels) sentinels_ = std::make_unique<sentinels>(settings_);
}

dialer::~dialer() = default;

std::unique_ptr<connection> dialer::open(const limit& l) const {
  return sentinels_ ? open_primary(l) : open_at({settings_.host, settings_.port}, l);
}

std::unique_ptr<connection> dialer::open_primary(const limit& l) const {
  for (;;) {
    const sentinels::primary found = sentinels_->find(l);
    const either stop(l.stop(), found.moved);
    const limit soon(l.at(), stop.get());
    try {
      std::unique_ptr<connection> made = open_at(found.at, soon);
      require_primary(*made, found.at, soon);
      return made;
    } catch (const storage::failure&) {
      const bool over = boot_clock::now() >= l.at() || l.stop().stop_requested();
      if (over) throw;
      const bool moved = found.moved.stop_requested() || sentinels_->doubt(found.at);
      if (!moved) throw;
    }
  }
}

/// The reply is {"master", …} for a primary. No other server takes writes.
bool dialer::is_primary(connection& c, const limit& l) const {
  command role(1);
  role.add("ROLE");
  const value v = c.ask(role, l);
  if (v.is(value::kind::error)) throw meaning_of(v.text, settings_.prefix);
  return !v.items.empty() && v.items[0].text == "master";
}

void dialer::require_primary(connection& c, const net::endpoint& at, const limit& l) const {
  try {
    if (is_primary(c, l)) return;
  } catch (const net::broken& e) {
    throw unreachable(e, where(at));
  } catch (const malformed& e) {
    throw storage::failure(errc::unreachable, std::string(e.what()) + " (" + where(at) + ")");
  }
  throw storage::failure(errc::not_ready,
                         "it is a replica: the sentinels are changing the primary (" + where(at) + ")");
}

std::string dialer::where(const net::endpoint& at) const {
  return sentinels_ ? text_of(at) + ", the primary of " + settings_.where() : settings_.where();
}

std::unique_ptr<connection> dialer::open_at(const net::endpoint& at, const limit& l) const {
  std::string why;
  bool for_good = false;
  bool is_late = false;
  bool connected = false;
  try {
    std::unique_ptr<net::stream> bytes = settings_.path.empty()
                                             ? open_stream(at, settings_.timeout, settings_.tls_context.get(), l)
                                             : net::connect({net::unix_address(settings_.path)}, settings_.timeout, l);
    auto made = std::make_unique<connection>(std::move(bytes), true);
    connected = true;
    greet(*made, l);
    return made;
  } catch (const net::broken& e) {
    why = e.what();
    for_good = e.for_good();
    is_late = e.is_late();
  } catch (const malformed& e) {
    why = std::string("not the words of a Redis server: ") + e.what();
  } catch (const std::system_error& e) {  // no descriptor, or no thread
    throw storage::failure(errc::not_ready, std::string(e.what()) + " (" + where(at) + ")");
  }
  const bool in_time = boot_clock::now() < l.at() && !l.stop().stop_requested();
  // A server that expects TLS hangs up on plain text.
  if (connected && in_time && !settings_.tls && settings_.path.empty())
    why += "; does the server want TLS? then say rediss://";
  why.append(" (").append(where(at)).append(")");
  if (is_late) throw storage::failure::late(why);
  throw storage::failure(for_good ? errc::denied : errc::unreachable, why);
}

void dialer::greet(connection& c, const limit& l) const {
  const bool secret = !settings_.password.empty();
  const bool named = !settings_.name.empty();
  command hello(2u + (secret ? 3u : 0u) + (named ? 2u : 0u));
  hello.add("HELLO").add("3");
  if (secret) hello.add("AUTH").add(settings_.user.empty() ? "default" : settings_.user).add(settings_.password);
  if (named) hello.add("SETNAME").add(settings_.name);
  const value v = without_secret(c.ask(hello, l), settings_.password);
  if (v.is(value::kind::error)) {
    const bool unknown = v.text.starts_with("ERR unknown command") || v.text.starts_with("ERR Unknown command") ||
                         v.text.starts_with("NOPROTO");
    if (!unknown) throw meaning_of(v.text, settings_.prefix);
    greet_in_resp2(c, l);
  }
  require_kind(v, settings_);
  if (settings_.database != 0) {
    command select(2);
    select.add("SELECT").add(settings_.database);
    require_ok(c, select, settings_, l);
  }
}

void dialer::greet_in_resp2(connection& c, const limit& l) const {
  c.speaks_resp2();
  if (!settings_.password.empty()) {
    command auth(settings_.user.empty() ? 2 : 3);
    auth.add("AUTH");
    if (!settings_.user.empty()) auth.add(settings_.user);
    auth.add(settings_.password);
    require_ok(c, auth, settings_, l);
  }
}

void dialer::subscribe(connection& c, const std::string& channel, const limit& l) const {
  command subscribe(2);
  subscribe.add("SSUBSCRIBE").add(channel);
  try {
    require_ok(c, subscribe, settings_, l);  // with RESP3 its reply is a push
  } catch (const net::broken& e) {
    throw unreachable(e, settings_.where());
  }
}

}  // namespace holdfast::redis
