#include "bench/raw.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "process/io.hpp"

namespace holdfast::cli {

namespace {

/// Returns the text before the character, or all of it.
std::string_view before(std::string_view text, char c) { return text.substr(0, text.find(c)); }

descriptor connected(int family, const sockaddr* to, socklen_t size) {
  descriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return fd.get() >= 0 && ::connect(fd.get(), to, size) == 0 ? std::move(fd) : descriptor();
}

descriptor to_socket(std::string_view path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof at.sun_path) return {};
  std::memcpy(at.sun_path, path.data(), path.size());
  return connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&at), sizeof at);
}

/// "host", "host:port" or "[::1]:port", optionally after a user.
descriptor to_host(std::string_view authority) {
  authority.remove_prefix(authority.rfind('@') + 1);
  const bool bracketed = authority.starts_with('[');
  std::string host(bracketed ? before(authority.substr(1), ']') : before(authority, ':'));
  authority.remove_prefix(std::min(authority.size(), host.size() + (bracketed ? 2 : 0)));
  const std::string port(authority.starts_with(':') ? authority.substr(1) : "6379");
  if (host.empty()) host = "127.0.0.1";
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    descriptor fd = connected(a->ai_family, a->ai_addr, a->ai_addrlen);
    if (fd.get() < 0) continue;
    const int at_once = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return fd;
  }
  return {};
}

descriptor to_server(std::string_view url) {
  for (const std::string_view scheme : {"redis://", "valkey://"}) {
    if (url.starts_with(scheme)) return to_host(before(before(url.substr(scheme.size()), '?'), '/'));
  }
  for (const std::string_view scheme : {"redis+unix://", "valkey+unix://"}) {
    if (url.starts_with(scheme)) return to_socket(before(url.substr(scheme.size()), '?'));
  }
  return {};
}

}  // namespace

raw_round_trip bare_ping(const std::string& url) {
  const auto fd = std::make_shared<descriptor>(to_server(url));
  if (fd->get() < 0) throw std::runtime_error("no bare connection");
  return {"PING on a bare connection", [fd] {
            constexpr std::string_view ping = "PING\r\n";
            char answer[256];
            ssize_t n = ::send(fd->get(), ping.data(), ping.size(), MSG_NOSIGNAL);
            if (n == static_cast<ssize_t>(ping.size())) n = ::recv(fd->get(), answer, sizeof answer, 0);
            if (n <= 0) throw std::runtime_error("the bare connection to the store is gone");
          }};
}

namespace {

/// A database beside those of the store. It is unlinked once it is open, so that nothing is left behind if we are
/// killed.
class scratch_database {
 public:
  explicit scratch_database(const std::string& folder) {
    std::string name = folder + "/holdfast-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + folder);
    path_ = name;
    if (sqlite3_open((path_ + "/bare.db").c_str(), &database_) != SQLITE_OK) close_and_throw();
    // The settings that SQLite recommends. Holdfast's store does more and syncs less.
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE held(name BLOB PRIMARY KEY)");
    insert_ = prepared("INSERT INTO held VALUES(x'00')");
    remove_ = prepared("DELETE FROM held");
    remove_names();  // all files are open by now; creating the table opened the journal
  }
  scratch_database(const scratch_database&) = delete;
  scratch_database& operator=(const scratch_database&) = delete;
  ~scratch_database() { close(); }

  /// Inserts and deletes a row, like acquiring and releasing a lock.
  void two_transactions() {
    for (sqlite3_stmt* const each : {insert_, remove_}) {
      if (sqlite3_step(each) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database_));
      sqlite3_reset(each);
    }
  }

 private:
  void close() noexcept {
    sqlite3_finalize(insert_);
    sqlite3_finalize(remove_);
    sqlite3_close(database_);
  }
  void remove_names() const noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[noreturn]] void close_and_throw() {
    const std::string why = sqlite3_errmsg(database_);
    close();
    remove_names();
    throw std::runtime_error(why);
  }
  void run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) close_and_throw();
  }
  sqlite3_stmt* prepared(const char* sql) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(database_, sql, -1, &made, nullptr) != SQLITE_OK) close_and_throw();
    return made;
  }

  std::string path_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* remove_ = nullptr;
};

}  // namespace

raw_round_trip bare_transactions(const std::string& url) {
  constexpr std::string_view scheme = "dir:";
  if (url.rfind(scheme, 0) != 0) throw std::runtime_error("no directory");
  const auto database = std::make_shared<scratch_database>(url.substr(scheme.size()));
  return {"two bare SQLite transactions", [database] { database->two_transactions(); }};
}

raw_round_trip raw_round_trip_of(const store& s, const std::string& name) {
  for (const auto make : {bare_ping, bare_transactions}) {
    try {
      raw_round_trip it = make(s.url());
      it.once();
      return it;
    } catch (const std::exception&) {  // inspect() always works
    }
  }
  return {"one look (inspect), through the library", [s, name] { (void)s.inspect(name); }};
}

}  // namespace holdfast::cli
