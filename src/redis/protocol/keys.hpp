#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/answer.hpp"

namespace holdfast::redis {

/// A key that belongs to K: the last letter of its name, and its type.
struct companion {
  char letter;
  std::string_view type;
};
namespace companions {
inline constexpr companion queue{'q', "zset"}, fence{'f', "string"}, holders{'h', "zset"}, asked{'a', "zset"},
    broken{'b', "string"}, number{'n', "string"}, watchers{'w', "zset"};
inline constexpr companion all[] = {queue, fence, holders, asked, broken, number, watchers};
}  // namespace companions

/// Returns K. With a prefix the name is encoded; without one K is the name itself, as in other libraries.
[[nodiscard]] std::string lock_key(std::string_view prefix, std::string_view name);

/// The keys of one lock. They lie in one slot of a cluster, and no key belongs to two names. They are built for every
/// call, so they share one block of memory.
struct keys {
  std::string_view lock;     ///< K: the owner, as a string with a ttl; see scripts/ for readers and permits
  std::string_view queue;    ///< the waiters, by ticket
  std::string_view fence;    ///< the last fence
  std::string_view holders;  ///< readers, or holders of permits, by the end of their leases
  std::string_view asked;    ///< the holders that are asked to release
  std::string_view broken;   ///< the record of the last break
  std::unique_ptr<const char[]> texts;

  keys(std::string_view prefix, std::string_view name) : keys(of_lock(prefix, lock_key(prefix, name))) {}
  /// Whether a name is allowed. Without a prefix, a name that begins with ours could be a key of another lock.
  [[nodiscard]] static bool may_be(std::string_view prefix, std::string_view name) noexcept;
  /// The error for a name that is not allowed.
  [[nodiscard]] static storage::failure refused();
  /// The keys that belong to K.
  [[nodiscard]] static keys of_lock(std::string_view prefix, std::string_view lock);

 private:
  keys() = default;
};

/// Returns the pattern of SCAN for the locks whose names begin with `beginning`: the keys of holders, and with a prefix
/// also those of queues. Special characters of the name are escaped.
[[nodiscard]] std::string pattern_of_locks(std::string_view prefix, std::string_view beginning);
/// Returns the name of the lock whose K or queue is this key, or nothing for any other key.
[[nodiscard]] std::optional<std::string> name_in(std::string_view prefix, std::string_view key);

/// The keys of one cell, in the same slot as those of a lock of that name.
struct cell_keys {
  std::string number;    ///< the value
  std::string watchers;  ///< the inboxes of the clients that wait for a change
  cell_keys(std::string_view prefix, std::string_view name);
};

/// Returns the prefix of the channels of all inboxes.
[[nodiscard]] std::string inboxes(std::string_view prefix);
/// Returns the prefix of those channels that lie in one slot of a cluster, where a script of that slot may publish.
[[nodiscard]] std::string inboxes_at(std::string_view inboxes, std::uint16_t slot);
/// Returns the key of the record of a client.
[[nodiscard]] std::string client_record(std::string_view prefix, std::string_view inbox);

}  // namespace holdfast::redis
