#pragma once
#include <memory>
#include <string>

#include "holdfast/limit.hpp"
#include "net/stream.hpp"

struct ssl_ctx_st;  // OpenSSL's

namespace holdfast::net {

/// Files in PEM format; empty: the system's authorities, no certificate of our own.
struct tls_files {
  std::string ca;
  std::string cert;
  std::string key;
};

/// What all TLS connections of a store share; from any thread. The server is always verified: its chain, and its name.
class tls {
 public:
  /// Throws broken, for good, when a file cannot be used.
  explicit tls(const tls_files&);
  /// The same connection, encrypted. Throws broken.
  [[nodiscard]] std::unique_ptr<stream> secure(std::unique_ptr<stream>, const std::string& host, const limit&) const;

 private:
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace holdfast::net
