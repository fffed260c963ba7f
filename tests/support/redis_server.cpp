#include "support/redis_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "redis/protocol/codec.hpp"
#include "support/bounds.hpp"

namespace holdfast::test {

namespace {

/// A file descriptor that is closed at the end of the scope.
struct open_socket {
  explicit open_socket(int fd_) : fd(fd_) {}
  open_socket(const open_socket&) = delete;
  open_socket& operator=(const open_socket&) = delete;
  ~open_socket() { ::close(fd); }
  const int fd;
};

/// Pointers to the texts, for posix_spawn.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& each : texts) all.push_back(each.data());
  all.push_back(nullptr);
  return all;
}

/// These variables, and those of this process that have other names.
std::vector<std::string> with_ours(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view name = std::string_view(*each).substr(0, std::string_view(*each).find('=') + 1);
    if (std::ranges::none_of(variables, [&](const std::string& v) { return v.starts_with(name); }))
      all.emplace_back(*each);
  }
  return all;
}

/// The last of this many replies.
redis::value exchange(const std::string& path, const std::string& request, int replies) {
  const open_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.data(), std::min(path.size(), sizeof to.sun_path - 1));
  const timeval patience{static_cast<time_t>(hang.count()), 0};
  ::setsockopt(s.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(s.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
      ::send(s.fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    throw std::runtime_error("no redis-server at " + path);
  }
  redis::decoder in;
  char buffer[4096];
  for (;;) {
    if (auto v = in.next()) {
      if (--replies == 0) return std::move(*v);
      continue;
    }
    const ssize_t n = ::recv(s.fd, buffer, sizeof buffer, 0);
    if (n <= 0) throw std::runtime_error("no answer from the redis-server at " + path);
    in.feed({buffer, static_cast<std::size_t>(n)});
  }
}

std::string program() {
  for (const char* variable : {"VALKEY_SERVER", "REDIS_SERVER"}) {
    if (const char* given = std::getenv(variable)) return given;
  }
  return "redis-server";
}

}  // namespace

redis_server::redis_server(std::vector<std::string> options, std::string configuration,
                           std::vector<std::string> environment)
    : options_(std::move(options)), configuration_(std::move(configuration)), environment_(std::move(environment)) {
  start();
}

redis_server::~redis_server() {
  if (pid_ > 0) kill();
}

void redis_server::start() {
  std::vector<std::string> words = {program()};
  if (!configuration_.empty()) {
    words.push_back(file("conf"));
    if (!std::filesystem::exists(file("conf")))
      std::ofstream(file("conf")) << configuration_;  // a sentinel writes to it
  }
  words.insert(words.end(), {"--port", "0", "--unixsocket", socket_, "--dir", folder_.file("")});
  words.insert(words.end(), {"--save", "", "--logfile", folder_.file("log")});
  words.insert(words.end(), options_.begin(), options_.end());
  std::vector<std::string> variables = with_ours(environment_);
  ::unlink(socket_.c_str());
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  // If the test dies, the server must not keep open the pipe that the test runner reads.
  for (const int each : {1, 2}) ::posix_spawn_file_actions_addopen(&quiet, each, "/dev/null", O_WRONLY, 0);
  const int failed =
      ::posix_spawnp(&pid_, words[0].c_str(), &quiet, nullptr, pointers(words).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&quiet);
  if (failed != 0) throw std::runtime_error("cannot start " + words[0]);
  const auto end = std::chrono::steady_clock::now() + hang;
  for (;;) {
    try {
      const redis::value v = ask({"PING"});
      if (v.text == "PONG" || v.is(redis::value::kind::error)) break;  // it may require a password
    } catch (const std::runtime_error&) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        std::ifstream log(folder_.file("log"));
        const std::string text((std::istreambuf_iterator<char>(log)), {});
        throw std::runtime_error(words[0] + " ended at once: " + text);
      }
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error(words[0] + " does not answer");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string redis_server::url(const std::string& options) const { return "redis+unix://" + socket_ + "?" + options; }

redis::value redis_server::ask(const std::vector<std::string>& words, const std::string& password) const {
  redis::command c(words.size());
  for (const std::string& word : words) c.add(word);
  if (password.empty()) return exchange(socket_, c.bytes(), 1);
  redis::command auth(2);
  auth.add("AUTH").add(password);
  return exchange(socket_, auth.bytes() + c.bytes(), 2);
}

redis::value redis_server::ask(std::initializer_list<std::string_view> words) const {
  return ask(std::vector<std::string>(words.begin(), words.end()));
}

std::vector<std::string> redis_server::keys(const std::string& pattern) const {
  std::vector<std::string> found;
  for (const redis::value& key : ask({"KEYS", pattern}).items) found.push_back(key.text);
  return found;
}

void redis_server::stop() const {
  if (pid_ < 0) return;  // a signal to -1 goes to all processes
  ::kill(pid_, SIGSTOP);
  siginfo_t stopped{};  // it may still run on another processor for a moment
  while (::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

void redis_server::go_on() const {
  if (pid_ >= 0) ::kill(pid_, SIGCONT);
}

void redis_server::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

int free_port() {
  const open_socket s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  if (::bind(s.fd, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::getsockname(s.fd, reinterpret_cast<sockaddr*>(&here), &size) != 0) {
    throw std::runtime_error("no port is free");
  }
  return ntohs(here.sin_port);
}

}  // namespace holdfast::test
