#pragma once
#include <string>
#include <string_view>

namespace holdfast::redis {

/// The keys of one lock. All of them lie in one slot of a cluster, and no key belongs to two names.
struct keys {
  std::string lock;   ///< K: the owner, as a plain string with a ttl
  std::string queue;  ///< who waits, by ticket
  std::string fence;  ///< the last fence

  /// With a prefix the name is encoded; without one K is the name itself, as other libraries use it.
  keys(std::string_view prefix, std::string_view name);
  /// Whether a name may be locked: without a prefix, one that begins like ours could be a companion of another name.
  [[nodiscard]] static bool may_be(std::string_view prefix, std::string_view name) noexcept;
  /// Those that belong to K.
  [[nodiscard]] static keys of_lock(std::string_view prefix, std::string lock);

 private:
  keys() = default;
};

/// How the channels of inboxes begin.
[[nodiscard]] std::string inboxes(std::string_view prefix);
/// Where it is written down who a client is.
[[nodiscard]] std::string client_record(std::string_view prefix, std::string_view inbox);

}  // namespace holdfast::redis
