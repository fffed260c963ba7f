#pragma once
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "holdfast/limit.hpp"
#include "net/stream.hpp"

namespace holdfast::net {

/// An address that a socket can connect to.
struct address {
  sockaddr_storage where{};
  socklen_t size = 0;
};

// Both throw broken, and std::system_error if no descriptor or no thread is left.

/// The addresses of a host, in the order in which to try them.
[[nodiscard]] std::vector<address> resolve(const std::string& host, int port, const limit&);
[[nodiscard]] address unix_address(const std::string& path);

/// A plain connection to the first address that answers; each gets an equal share of the time. If the peer does not
/// acknowledge sent data for `silence`, the connection breaks.
[[nodiscard]] std::unique_ptr<stream> connect(const std::vector<address>&, std::chrono::milliseconds silence,
                                              const limit&);

}  // namespace holdfast::net
