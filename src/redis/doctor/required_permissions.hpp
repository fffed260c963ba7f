#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/codec.hpp"
#include "redis/protocol/server_info.hpp"
#include "redis/protocol/settings.hpp"

namespace holdfast::redis {

/// A command that the store sends, itself or in a script, and a form of it that changes nothing if the key K does not
/// exist. Trying that form shows whether the command is permitted, and needs no other permission.
struct permission {
  std::string_view right;  ///< as ACL SETUSER takes it, without the plus
  std::string_view form;   ///< K stands for a key, C for a channel, S for the text of a script
};
/// Every permission that locks need except SSUBSCRIBE, which cannot be tried on a connection that takes commands.
[[nodiscard]] std::span<const permission> required_permissions() noexcept;
/// The additional permissions that the options of a URL need.
[[nodiscard]] std::vector<permission> permissions_for(const settings&);
/// `key` and `channel` must be unused.
[[nodiscard]] command form_of(const permission&, std::string_view key, std::string_view channel);

/// The commands that the server refused.
class refusals {
 public:
  /// Adds an error reply to a form. Errors that the server reports after its permission check are ignored.
  void add(std::string_view right, std::string_view error);
  [[nodiscard]] server_info facts(std::string_view user, std::string_view prefix) const;

 private:
  std::vector<std::string> rights_, unknown_;
  bool keys_ = false, channels_ = false;
};

}  // namespace holdfast::redis
