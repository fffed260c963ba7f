#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "holdfast/limit.hpp"
#include "redis/protocol/codec.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// What came of a command: the server's reply, which may be an error; or why nobody knows.
using reply = std::variant<value, storage::failure>;

/// What the server said to the command that it was about: of several replies, the first. Null: nobody knows.
[[nodiscard]] inline const value* said_to(const command& c, const reply& r) noexcept {
  const value* const v = std::get_if<value>(&r);
  return v != nullptr && c.wanted() > 1 && !v->items.empty() ? v->items.data() : v;
}

/// The same, for one more who waits. Where there is no memory for its words, there are fewer: those fit into the
/// string.
[[nodiscard]] inline storage::failure copy_of(const storage::failure& why) noexcept {
  try {
    return why;
  } catch (const std::bad_alloc&) {
    return storage::failure(why.code, "no memory");
  }
}

/// Who we are for the server and for other clients.
struct identity {
  std::string inboxes;                  ///< how the channels of inboxes begin
  std::string id;                       ///< of ours
  std::optional<command> introduction;  ///< writes down where and what we are, for whoever asks who holds a lock
};

/// Where a command is whose caller left before its reply came. The server may carry it out later.
struct abandoned_command {
  std::size_t lane = 0;
  std::uint64_t connection = 0;
  std::uint64_t node = 0;  ///< its serial, in a cluster
};

/// Who hears what the server says by itself.
class listener {
 public:
  virtual ~listener() = default;
  /// A message to our inbox. On the loop.
  virtual void pushed(std::string_view message) = 0;
  /// Messages of this server may have been lost; no_shard: of any. From any thread.
  virtual void missed(storage::shard) noexcept = 0;
  /// Messages may have been lost, and so may the data of this server; no_shard: of all. From any thread.
  virtual void in_doubt(storage::shard) noexcept = 0;
  /// There is a server again, or another one now. From any thread.
  virtual void back() noexcept = 0;
  /// Whether this client has claims, which may have to be renewed. From any thread.
  [[nodiscard]] virtual bool has_claims() const noexcept = 0;
  /// Something about a server, with its name, that those should hear of who look after it. From any thread.
  virtual void warned(std::string_view what) = 0;
};

/// How commands get to the server, and messages back: over sockets in the product, over a bad network in the simulator.
/// Called from any thread.
class link {
 public:
  virtual ~link() = default;
  /// Sends a command and waits for its reply. The limit ends the wait, not the command: its reply is read and dropped
  /// when it comes. `abandoned` then says where the command is, if it may be carried out after later ones, also when
  /// the connection broke. A blocking caller whose command failed and is not abandoned knows that it was not carried
  /// out. What is passed by reference must outlive the call.
  virtual runtime::task<reply> call(runtime::io&, const command&, limit,
                                    std::optional<abandoned_command>* abandoned = nullptr) = 0;
  /// Sends a command on the connection of the abandoned one, so that the server carries it out after that one, or not
  /// at all. Its reply is dropped.
  virtual void follow(const abandoned_command&, const command&) noexcept = 0;
  /// Where the slot of a key is, as far as we know.
  [[nodiscard]] virtual storage::shard shard_of(std::uint16_t /*slot*/) const noexcept { return storage::no_shard; }
  /// Whether messages about this key reach us: what a server tells us from now on is heard.
  [[nodiscard]] virtual bool listens(const std::string& key) const noexcept = 0;
  /// Until they do. A failure: they do not.
  virtual runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string& key, limit) = 0;
  /// Which connection takes commands from the loop and messages: each has another number. 0: there is none, or nobody
  /// can tell. If it is the same before a call and after its reply, that is the one it went by. On the loop.
  [[nodiscard]] virtual std::uint64_t connection_number() const noexcept { return 0; }
  /// Sends it some time soon; nobody waits for the reply. On the loop.
  virtual void post(const command&) = 0;
  /// The parts that keys lie on, by name, in an order that stays. One server is one part, without a name.
  virtual runtime::task<storage::answer<std::vector<std::string>>> parts(runtime::io&, limit);
  /// The link to one of them, for commands without a key; it outlives neither this link nor its close(). Null: there is
  /// none of that name any more. One server is reached by any name.
  [[nodiscard]] virtual std::shared_ptr<link> part(const std::string& /*name*/) {
    return {std::shared_ptr<link>(), this};
  }
  /// Nothing will be asked any more. Ends what runs by itself.
  virtual void close() noexcept {}
};

inline runtime::task<storage::answer<std::vector<std::string>>> link::parts(runtime::io&, limit) {
  co_return storage::answer<std::vector<std::string>>::yes(std::vector<std::string>(1));
}

}  // namespace holdfast::redis
