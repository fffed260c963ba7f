#include "support/private_network.hpp"

#include <net/if.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace holdfast::test {

namespace {

/// Enters namespaces of its own, in which this process is root. Returns false if that is not allowed.
bool enter_as_root() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return true;
}

void raise_loopback() {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq loopback{};
  std::strcpy(loopback.ifr_name, "lo");
  loopback.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool is_up = ::ioctl(any, SIOCSIFFLAGS, &loopback) == 0;
  ::close(any);
  if (!is_up) throw std::runtime_error("the loopback of a network of our own stays down");
}

/// Runs commands of nft atomically.
void nft(const std::string& commands) {
  std::string program = "nft", text = commands;
  char* const words[] = {program.data(), text.data(), nullptr};
  pid_t pid = -1;
  if (::posix_spawnp(&pid, "nft", nullptr, nullptr, words, environ) != 0) throw std::runtime_error("there is no nft");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw std::runtime_error("nft refuses: " + commands);
}

/// Sets of (address, port), one for each direction.
constexpr const char* sets[] = {"to_server", "to_client"};

std::string line(const std::string& address, int port) { return "{ " + address + " . " + std::to_string(port) + " }"; }

}  // namespace

private_network::private_network() {
  if (::unshare(CLONE_NEWNET) != 0 && !enter_as_root()) {
    throw std::runtime_error(
        "this machine does not allow a network of our own: neither are we root with the right to "
        "make network namespaces, nor may others make user namespaces");
  }
  raise_loopback();
  nft("add table inet lines; "
      "add set inet lines to_server { type ipv4_addr . inet_service; }; "
      "add set inet lines to_client { type ipv4_addr . inet_service; }; "
      "add chain inet lines in { type filter hook input priority 0; }; "
      "add rule inet lines in ip daddr . tcp dport @to_server drop; "
      "add rule inet lines in ip saddr . tcp sport @to_client drop");
}

void private_network::drop(way w, const std::string& address, int port) {
  nft(std::string("add element inet lines ") + sets[w == way::to_server ? 0 : 1] + " " + line(address, port));
}

void private_network::heal(const std::string& address, int port) {
  std::string commands;
  for (const char* const set : sets) {  // an element must exist to be deleted
    commands += std::string("add element inet lines ") + set + " " + line(address, port) +
                "; delete element inet lines " + set + " " + line(address, port) + "; ";
  }
  nft(commands);
}

void private_network::heal() { nft("flush set inet lines to_server; flush set inet lines to_client"); }

}  // namespace holdfast::test
