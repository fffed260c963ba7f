#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "sim/client_io.hpp"
#include "sim/world.hpp"
#include "storage/claim.hpp"
#include "storage/lock_queue.hpp"

namespace holdfast::sim {

struct demand {
  enum class kind { acquire, renew, release, downgrade, resize } what;
  std::string name;
  storage::owner_id owner;
  storage::share wants{};
  std::chrono::milliseconds ttl{};
  bool queue = false;
  int from = 0;             ///< the client
  std::uint64_t fence = 0;  ///< of a writer that becomes a reader
};

struct lease_reply {
  bool yes = false;
  bool foreign = false;  ///< others use the name for something else
  std::uint64_t fence = 0;
  std::chrono::nanoseconds left{0};  ///< the remaining time of the holder that expires first
};

/// A lock service with expiry by its own clock, and pushes to the claims that its queue admits.
class lease_server {
 public:
  static constexpr std::uint64_t fences_in_a_block = 16;
  /// A waiter that does not poll for this long is dropped: its request may have overtaken the one that left.
  static constexpr std::chrono::seconds place_ttl{2};
  using push = std::function<void(int client, storage::owner_id)>;

  lease_server(world& w, drifting_clock clock, push p) : world_(w), clock_(clock), push_(std::move(p)) {}
  [[nodiscard]] lease_reply carry_out(const demand&);

  void restart_empty();     ///< locks, queues and the last fence are gone; the clock is not
  void forget_client(int);  ///< removes a crashed client from all queues
  /// Returns the queue entries and the unexpired locks that are left.
  [[nodiscard]] std::string leftovers() const;

 private:
  lease_reply acquire(storage::lock_queue&, const demand&);
  storage::lock_queue& queue_of(const std::string& name);
  std::uint64_t mint();
  world& world_;
  const drifting_clock clock_;
  const push push_;
  std::map<std::string, storage::lock_queue> locks_;
  std::map<storage::owner_id, int> clients_;
  std::uint64_t last_fence_ = 0;
};

}  // namespace holdfast::sim
