#pragma once
#include <optional>
#include <string_view>
#include <variant>

#include "holdfast/limit.hpp"
#include "redis/codec.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "store/answer.hpp"

namespace holdfast::redis {

/// What came of a command: the server's reply, which may be an error; or why nobody knows.
using reply = std::variant<value, seam::failure>;

/// Who we are for the server and for other clients.
struct identity {
  std::string channel;   ///< of our inbox
  command introduction;  ///< writes down where and what we are, for whoever asks who holds a lock
};

/// Who hears what the server says by itself.
class listener {
 public:
  virtual ~listener() = default;
  /// A message to our inbox. On the loop.
  virtual void pushed(std::string_view message) = 0;
  /// Messages may have been lost, and so may the server's data. From any thread.
  virtual void in_doubt() noexcept = 0;
};

/// How commands get to the server, and messages back: over sockets in the product, over a bad network in the simulator.
/// Called from any thread.
class link {
 public:
  virtual ~link() = default;
  /// A limit cuts the wait, not the command: its reply is read and dropped in its turn. The command must outlive the
  /// call.
  virtual runtime::task<reply> call(runtime::io&, const command&, limit) = 0;
  /// Whether messages reach us: what a server tells us from now on is heard.
  [[nodiscard]] virtual bool listens() const noexcept = 0;
  /// Until they do. A failure: they do not.
  virtual runtime::task<std::optional<seam::failure>> listen(runtime::io&, limit) = 0;
  /// Sends it some time soon; nobody waits for the reply. On the loop.
  virtual void post(const command&) = 0;
  /// Nothing will be asked any more. Ends what runs by itself.
  virtual void close() noexcept {}
};

}  // namespace holdfast::redis
