#pragma once
#include <string>

namespace holdfast::test {

/// A network namespace of this process and its children: a private loopback on which the kernel drops selected packets.
/// A process enters it once and cannot leave it.
///
/// It takes the rights of root, or a machine that lets everybody make namespaces; and the program `nft`.
class private_network {
 public:
  enum class way { to_server, to_client };

  /// Must be called before any thread is started. Throws std::runtime_error if this machine does not allow it.
  private_network();
  private_network(const private_network&) = delete;
  private_network& operator=(const private_network&) = delete;

  /// Drops packets in one direction between this address, such as 127.0.0.2, and its peers, without an error. TCP sends
  /// them again while a connection is open.
  void drop(way, const std::string& address, int port);
  /// Ends the drop in this direction at this address.
  void heal(const std::string& address, int port);
  /// Ends all drops.
  void heal();
};

}  // namespace holdfast::test
