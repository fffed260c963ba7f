#pragma once
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "holdfast/limit.hpp"
#include "net/stream.hpp"

namespace holdfast::net {

/// Where a socket can be connected to.
struct address {
  sockaddr_storage where{};
  socklen_t size = 0;
};

// Both throw broken, and std::system_error if no descriptor or no thread is left.

/// The addresses of a host, in the order in which they are to be tried.
[[nodiscard]] std::vector<address> resolve(const std::string& host, int port, const limit&);
[[nodiscard]] address unix_address(const std::string& path);

/// A plain connection to the first of them that answers; each gets its share of the time. What is written to a peer
/// that is gone breaks it after `silence` at the latest.
[[nodiscard]] std::unique_ptr<stream> connect(const std::vector<address>&, std::chrono::milliseconds silence,
                                              const limit&);

}  // namespace holdfast::net
