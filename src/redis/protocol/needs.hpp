#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/codec.hpp"
#include "redis/protocol/settings.hpp"
#include "storage/findings.hpp"

namespace holdfast::redis {

/// A command that the store sends, by itself or in a script, and a form of it that changes nothing where nobody has the
/// key K: to try it is the surest way to know whether it is allowed, and needs no other right.
struct need {
  std::string_view right;  ///< as ACL SETUSER takes it, without the plus
  std::string_view form;   ///< K is a key, C a channel, S the text of a script
};
/// All of them but SSUBSCRIBE, which a connection that takes commands cannot try.
[[nodiscard]] std::span<const need> needs() noexcept;
/// What such a URL needs besides.
[[nodiscard]] std::vector<need> needs_of(const settings&);
/// The key and the channel must be ones that nobody has.
[[nodiscard]] command form_of(const need&, std::string_view key, std::string_view channel);

/// What the server would not do for us.
class refusals {
 public:
  /// What it said to a form, if that was an error. Errors that come after the right was checked are none.
  void add(std::string_view right, std::string_view error);
  void judge(std::string_view user, std::string_view prefix, storage::findings&) const;

 private:
  std::vector<std::string> rights_, unknown_;
  bool keys_ = false, channels_ = false;
};

/// A right is missing.
[[nodiscard]] bool is_forbidden(std::string_view error) noexcept;
/// The server does not know the command, or not under this name.
[[nodiscard]] bool is_unknown_command(std::string_view error) noexcept;

}  // namespace holdfast::redis
