#pragma once
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::net {

/// Says what is wrong with a URL, without quoting a part that may be a secret.
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

/// Checks the text before the last @. Throws bad_url if it contains another host with a user or password of its own.
void check_credentials(std::string_view);

/// The options that may be shown of a URL.
struct shown_options {
  std::span<const std::string_view> no_secrets{};
  /// If one of these is given, the password is not in the URL, and text without a colon before the @ is a user name.
  std::span<const std::string_view> say_where_the_password_is{};
};

/// Redacts a URL, valid or not. Before the last @ only the user name is kept, and of the options only those known not
/// to be secrets, as they were given.
[[nodiscard]] std::string without_secrets(std::string_view, const shown_options& = {});

}  // namespace holdfast::net
