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

/// The outcome of a command: the server's reply, which may be an error, or why it is not known.
using reply = std::variant<value, storage::failure>;

/// The server's reply to the command that counts: the first, if there are several. Null if it is not known.
[[nodiscard]] inline const value* said_to(const command& c, const reply& r) noexcept {
  const value* const v = std::get_if<value>(&r);
  return v != nullptr && c.wanted() > 1 && !v->items.empty() ? v->items.data() : v;
}

/// Copies a failure for another waiter. If there is no memory for its text, the copy has one that needs none.
[[nodiscard]] inline storage::failure copy_of(const storage::failure& why) noexcept {
  try {
    return why;
  } catch (const std::bad_alloc&) {
    return storage::failure(why.code, "no memory");
  }
}

/// Identifies this client to the server and to other clients.
struct identity {
  std::string inboxes;                  ///< how the channels of all inboxes begin
  std::string id;                       ///< names our inbox
  std::optional<command> introduction;  ///< records host, process and program, which inspections report
};

/// The position of a command whose caller left before its reply came. The server may carry it out later.
struct abandoned_command {
  std::size_t index = 0;         ///< in the pool of connections
  std::uint64_t connection = 0;  ///< the number of the connection that was open there
  std::uint64_t node = 0;        ///< the serial of the node, in a cluster
};

/// Receives what a server sends without being asked, and news about the connections to it.
class listener {
 public:
  virtual ~listener() = default;
  /// A message to our inbox arrived. Called on the loop; all others are called from any thread.
  virtual void pushed(std::string_view message) = 0;
  /// Messages of this server may have been lost; no_shard: of any server.
  virtual void missed(storage::shard) noexcept = 0;
  /// Messages of this server and its data may have been lost; no_shard: of all servers.
  virtual void in_doubt(storage::shard) noexcept = 0;
  /// A server can be reached again, or another one has taken its place.
  virtual void back() noexcept = 0;
  /// Whether this client has claims, which may have to be renewed.
  [[nodiscard]] virtual bool has_claims() const noexcept = 0;
  /// Reports a problem of a server, with its name, to the operators.
  virtual void warned(std::string_view what) = 0;
};

/// Carries commands to the server and messages back: over sockets in the product, over a simulated network in the
/// simulator. Called from any thread.
class transport {
 public:
  virtual ~transport() = default;
  /// Sends a command and waits for its reply. The limit ends the wait, not the command: its reply is read and dropped
  /// when it comes. `abandoned` then says where the command is, if it may be carried out after later ones, also when
  /// the connection broke. A blocking caller whose command failed and is not abandoned knows that it was not carried
  /// out. What is passed by reference must outlive the call.
  virtual runtime::task<reply> call(runtime::io&, const command&, limit,
                                    std::optional<abandoned_command>* abandoned = nullptr) = 0;
  /// Sends a command on the connection of the abandoned one, so that the server carries it out after that one, or not
  /// at all. Its reply is dropped.
  virtual void follow(const abandoned_command&, const command&) noexcept = 0;
  /// The shard of a slot, as far as we know.
  [[nodiscard]] virtual storage::shard shard_of(std::uint16_t /*slot*/) const noexcept { return storage::no_shard; }
  /// Whether messages about this key reach us from now on.
  [[nodiscard]] virtual bool listens(const std::string& key) const noexcept = 0;
  /// Waits until they do. Returns why they do not.
  virtual runtime::task<std::optional<storage::failure>> listen(runtime::io&, const std::string& key, limit) = 0;
  /// The number of the connection for messages and for commands from the loop; each has another one. If it is the same
  /// before a call and after its reply, the call used that connection. 0: it is closed, or not known. On the loop.
  [[nodiscard]] virtual std::uint64_t connection_number() const noexcept { return 0; }
  /// Sends a command soon. Its reply is dropped. On the loop.
  virtual void post(const command&) = 0;
  /// The names of the servers that keys are spread over, in a stable order. A single server has an empty name.
  virtual runtime::task<storage::answer<std::vector<std::string>>> parts(runtime::io&, limit);
  /// The transport to one of them, for commands without a key. It outlives neither this transport nor its close(). Null
  /// if there is no server of that name any more; a single server accepts any name.
  [[nodiscard]] virtual std::shared_ptr<transport> part(const std::string& /*name*/) {
    return {std::shared_ptr<transport>(), this};
  }
  /// Ends background tasks. No call may follow.
  virtual void close() noexcept {}
};

inline runtime::task<storage::answer<std::vector<std::string>>> transport::parts(runtime::io&, limit) {
  co_return storage::answer<std::vector<std::string>>::yes(std::vector<std::string>(1));
}

}  // namespace holdfast::redis
