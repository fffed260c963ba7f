#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/answer.hpp"

namespace holdfast::redis {

/// A key that belongs to K: what its own name ends with, and what it is to a server.
struct companion {
  char letter;
  std::string_view type;
};
namespace companions {
inline constexpr companion queue{'q', "zset"}, fence{'f', "string"}, holders{'h', "zset"}, asked{'a', "zset"},
    broken{'b', "string"}, number{'n', "string"}, watchers{'w', "zset"};
inline constexpr companion all[] = {queue, fence, holders, asked, broken, number, watchers};
}  // namespace companions

/// K, alone. With a prefix the name is encoded; without one K is the name itself, as other libraries use it.
[[nodiscard]] std::string lock_key(std::string_view prefix, std::string_view name);

/// The keys of one lock. All of them lie in one slot of a cluster, and no key belongs to two names. They are made for
/// every step: all in one piece of memory.
struct keys {
  std::string_view lock;     ///< K: the owner, as a plain string with a ttl; of readers and permits see scripts/
  std::string_view queue;    ///< who waits, by ticket
  std::string_view fence;    ///< the last fence
  std::string_view holders;  ///< readers, or who holds permits, by the end of their leases
  std::string_view asked;    ///< who of those that hold it is asked to let go
  std::string_view broken;   ///< who took it by force, the last time
  std::unique_ptr<const char[]> texts;

  keys(std::string_view prefix, std::string_view name) : keys(of_lock(prefix, lock_key(prefix, name))) {}
  /// Whether a name may be locked: without a prefix, one that begins like ours could be a companion of another name.
  [[nodiscard]] static bool may_be(std::string_view prefix, std::string_view name) noexcept;
  /// What such a name is answered with.
  [[nodiscard]] static storage::failure refused();
  /// Those that belong to K.
  [[nodiscard]] static keys of_lock(std::string_view prefix, std::string_view lock);

 private:
  keys() = default;
};

/// Which keys of a server have to be looked at to find the locks whose names begin so: those of holders, and with a
/// prefix also those of queues. As a glob-style pattern, in which a name stands for itself.
[[nodiscard]] std::string pattern_of_locks(std::string_view prefix, std::string_view beginning);
/// The name of the lock whose K or queue has this key; nothing: it is another key.
[[nodiscard]] std::optional<std::string> name_in(std::string_view prefix, std::string_view key);

/// The keys of one cell, in the same slot as those of a lock of that name.
struct cell_keys {
  std::string number;    ///< what stands there
  std::string watchers;  ///< the inboxes of those who wait for a change
  cell_keys(std::string_view prefix, std::string_view name);
};

/// How the channels of inboxes begin.
[[nodiscard]] std::string inboxes(std::string_view prefix);
/// The same of those that lie in one slot of a cluster, where a script may tell them something.
[[nodiscard]] std::string inboxes_at(std::string_view inboxes, std::uint16_t slot);
/// Where it is written down who a client is.
[[nodiscard]] std::string client_record(std::string_view prefix, std::string_view inbox);

}  // namespace holdfast::redis
