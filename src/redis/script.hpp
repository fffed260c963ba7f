#pragma once
#include <string_view>

namespace holdfast::redis {

/// One atomic step at the server. The texts are in scripts/, embedded at build time.
struct script {
  std::string_view text;
  std::string_view sha;  ///< its SHA-1, in hex
};

namespace scripts {
extern const script acquire;
extern const script release;
extern const script renew;
}  // namespace scripts

}  // namespace holdfast::redis
