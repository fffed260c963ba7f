#pragma once
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

/// What is wrong with a URL. Never quotes a part that may be a secret.
class bad_url : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct endpoint {
  std::string host;  ///< an IPv6 address without its brackets
  int port = 0;      ///< 0 if none was given
  bool operator==(const endpoint&) const = default;
};

/// scheme://[user[:password]@]host[:port][,host[:port]...][/path][?option=value&...], percent-decoded.
struct url {
  std::string scheme;
  std::string user;
  std::string password;
  std::string host;  ///< of the first endpoint
  int port = 0;
  std::vector<endpoint> others;  ///< the endpoints after the first
  std::string path;              ///< without the first slash
  std::map<std::string, std::string> options;

  /// Throws bad_url.
  [[nodiscard]] static url parse(std::string_view);
};

/// Of what stands before the last @: throws bad_url if other hosts are among it, with a user or a password of their
/// own.
void check_credentials(std::string_view);

/// The options that a URL may be shown with.
struct shown_options {
  std::span<const std::string_view> no_secrets{};
  /// With one of these the password stands elsewhere, and what stands alone before the @ is a user.
  std::span<const std::string_view> say_where_the_password_is{};
};

/// The URL as it may be shown, good or bad: of what stands before the last @ only a user's name is left, and of the
/// options those that are known to be no secrets, as they were given.
[[nodiscard]] std::string without_secrets(std::string_view, const shown_options& = {});

}  // namespace holdfast::net
