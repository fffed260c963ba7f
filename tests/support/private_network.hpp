#pragma once
#include <string>

namespace holdfast::test {

/// A network of this process and of those that it starts: a loopback of their own, on which the kernel drops the
/// packets that it is told to. There is one; it is entered for good.
///
/// It takes the rights of root, or a machine that lets everybody make namespaces; and the program `nft`.
class private_network {
 public:
  enum class way { to_server, to_client };

  /// Before any thread is started. Throws std::runtime_error when this machine does not allow it.
  private_network();
  private_network(const private_network&) = delete;
  private_network& operator=(const private_network&) = delete;

  /// From now on the packets of that way between an address, such as 127.0.0.2, and whoever is connected to it there
  /// arrive nowhere. Nobody is told; TCP sends them again for as long as a connection is open.
  void drop(way, const std::string& address, int port);
  /// All packets of one line arrive again.
  void heal(const std::string& address, int port);
  /// All packets arrive again.
  void heal();
};

}  // namespace holdfast::test
