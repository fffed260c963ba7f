#include "redis_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

namespace bench {

namespace {

sockaddr_in local(int port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  a.sin_port = htons(static_cast<std::uint16_t>(port));
  return a;
}

std::string contents(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here = local(0);
  socklen_t size = sizeof here;
  ::bind(fd, reinterpret_cast<const sockaddr*>(&here), sizeof here);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size);
  ::close(fd);
  return ntohs(here.sin_port);
}

redis_server::redis_server(const std::vector<std::string>& options, const std::string& configuration)
    : port_(free_port()), server_([&] {
        std::vector<std::string> words = {"redis-server"};
        if (!configuration.empty()) {
          words.push_back(folder_.file("conf"));
          std::ofstream(words.back()) << configuration;
        }
        words.insert(words.end(), {"--port", std::to_string(port_), "--bind", "127.0.0.1", "--save", "", "--dir",
                                   folder_.file(""), "--logfile", "/dev/null"});
        words.insert(words.end(), options.begin(), options.end());
        std::vector<char*> all;
        for (std::string& each : words) all.push_back(each.data());
        all.push_back(nullptr);
        ::execvp(all.front(), all.data());
      }) {
  for (int tries = 0;; ++tries) {
    try {
      if (bare_socket(port_).ask(resp({"PING"})) == "+PONG\r\n") return;
    } catch (const std::runtime_error&) {
      if (tries == 500) throw std::runtime_error("redis-server does not answer; is it installed?");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bare_socket::bare_socket(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in to = local(port);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    ::close(fd_);
    throw std::runtime_error("connect");
  }
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bare_socket::~bare_socket() { ::close(fd_); }

void bare_socket::send(const std::string& bytes) const {
  if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("send");
  }
}

std::string bare_socket::receive() const {
  char buffer[4096];
  const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
  if (n <= 0) throw std::runtime_error("recv");
  return std::string(buffer, static_cast<std::size_t>(n));
}

std::string resp(const std::vector<std::string>& words) {
  std::string bytes;
  bytes.append("*").append(std::to_string(words.size())).append("\r\n");
  for (const std::string& w : words) {
    bytes.append("$").append(std::to_string(w.size())).append("\r\n").append(w).append("\r\n");
  }
  return bytes;
}

std::string script_text(const std::string& name) {
  const std::string folder = std::string(HOLDFAST_SOURCE_DIR) + "/src/redis/scripts/";
  std::string text = contents(folder + name + ".lua");
  for (std::size_t at = text.find("--@"); at != std::string::npos; at = text.find("--@")) {
    const std::size_t end = text.find('\n', at);
    text.replace(at, end + 1 - at, contents(folder + text.substr(at + 3, end - at - 3) + ".part.lua"));
  }
  return text;
}

std::string load_script(const bare_socket& server, const std::string& text) {
  const std::string reply = server.ask(resp({"SCRIPT", "LOAD", text}));  // "$40", and the digest on the next line
  if (!reply.starts_with("$40\r\n")) throw std::runtime_error(reply);
  return reply.substr(reply.find('\n') + 1, 40);
}

script_pair::script_pair(const bare_socket& server, const std::string& name) {
  const std::string k = "holdfast:{" + name + "}";
  const std::string owner = "AAAAAAAAAAAAAAAA.BBBBBBBBBBBBBBBB-500";
  const auto sum = [&](const char* script) { return load_script(server, script_text(script)); };
  acquire = {"EVALSHA", sum("acquire"), "4", k, k + ":q", k + ":f", k + ":h", owner, "10000", "holdfast:in:", ""};
  release = {"EVALSHA", sum("release"), "4", k, k + ":q", k + ":f", k + ":h", owner, "holdfast:in:"};
}

}  // namespace bench
