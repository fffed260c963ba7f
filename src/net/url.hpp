#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::net {

/// What is wrong with a URL. Never quotes a part that may be a secret.
class bad_url : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// scheme://[user[:password]@]host[:port][/path][?option=value&...], percent-decoded.
struct url {
  std::string scheme;
  std::string user;
  std::string password;
  std::string host;  ///< an IPv6 address without its brackets
  int port = 0;      ///< 0: none was given
  std::string path;  ///< without the first slash
  std::map<std::string, std::string> options;

  /// Throws bad_url.
  [[nodiscard]] static url parse(std::string_view);
};

/// The URL as it may be shown, good or bad: of what stands before the last @ only a user's name is left, and the
/// options are left out.
[[nodiscard]] std::string without_secrets(std::string_view);

}  // namespace holdfast::net
