#pragma once
#include <memory>
#include <string>

#include "holdfast/limit.hpp"
#include "net/stream.hpp"

struct ssl_ctx_st;  // OpenSSL's

namespace holdfast::net {

/// Files in PEM format. If empty, the system's authorities are used, and no client certificate.
struct tls_files {
  std::string ca;
  std::string cert;
  std::string key;
};

/// The TLS settings shared by all connections of a store, used from any thread. The server's chain and name are always
/// verified.
class tls {
 public:
  /// Throws broken with for_good() if a file cannot be used.
  explicit tls(const tls_files&);
  /// Encrypts the connection. Throws broken.
  [[nodiscard]] std::unique_ptr<stream> secure(std::unique_ptr<stream>, const std::string& host, const limit&) const;

 private:
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace holdfast::net
