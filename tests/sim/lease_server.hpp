#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/client_io.hpp"
#include "sim/world.hpp"
#include "store/claim.hpp"

namespace holdfast::sim {

struct demand {
  enum class kind { acquire, renew, release, downgrade, resize } what;
  std::string name;
  seam::owner_id owner;
  seam::share wants{};
  std::chrono::milliseconds ttl{};
  bool queue = false;
  int from = 0;             ///< which client
  std::uint64_t fence = 0;  ///< of a writer that becomes a reader
};

struct lease_reply {
  bool yes = false;
  bool foreign = false;  ///< others use the name for something else
  std::uint64_t fence = 0;
  std::chrono::nanoseconds left{0};  ///< of a holder, the first whose time is over
};

/// A lock service with expiry by its own clock, a queue, and pushes to those it grants to. One rule for locks, readers
/// and permits: in order of arrival, whoever is first gets in as soon as its part is free.
class lease_server {
 public:
  static constexpr std::uint64_t fences_in_a_block = 16;
  /// A place in a queue that is not polled for so long is dropped: its request may have overtaken the one that left.
  static constexpr std::chrono::seconds place_ttl{2};
  using push = std::function<void(int client, seam::owner_id)>;

  lease_server(world& w, drifting_clock clock, push p) : world_(w), clock_(clock), push_(std::move(p)) {}
  [[nodiscard]] lease_reply carry_out(const demand&);

  void restart_empty();     ///< locks, queues and the last fence are gone; the clock is not
  void forget_client(int);  ///< its places in queues: it crashed, and nobody will ever ask for them
  /// What is left: places, and locks that have not run out.
  [[nodiscard]] std::string leftovers() const;

 private:
  struct place {
    seam::owner_id owner;
    int client;
    seam::share wants;
    std::chrono::milliseconds ttl;
    instant expires;
  };
  struct holding {
    seam::owner_id owner;
    int client;
    std::uint32_t part;
    instant expires;
    std::uint64_t fence;
  };
  struct lock {
    std::uint32_t whole = 0;
    std::int64_t used = 0;
    std::vector<holding> holders;
    std::vector<place> line;

    [[nodiscard]] holding* find(const seam::owner_id&) noexcept;
    [[nodiscard]] bool has_room_for(const seam::share&) const noexcept;
    void drop_expired(instant now);
    bool remove(const seam::owner_id&);
  };
  lease_reply acquire(lock&, const demand&);
  lease_reply release(lock&, const demand&);
  lease_reply downgrade(lock&, const demand&);
  holding& give(lock&, const place&);
  void serve(lock&);
  std::uint64_t mint();
  world& world_;
  const drifting_clock clock_;
  const push push_;
  std::map<std::string, lock> locks_;
  std::uint64_t last_fence_ = 0;
};

}  // namespace holdfast::sim
