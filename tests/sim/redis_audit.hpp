#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/asked.hpp"
#include "sim/known_grants.hpp"
#include "sim/redis_keys.hpp"
#include "sim/world.hpp"
#include "storage/claim.hpp"

namespace holdfast::sim {

/// One run of one of our scripts.
struct redis_step {
  asked what;
  char of;  ///< '-' a whole lock, '+' readers, ':' permits
  std::vector<std::string> keys;
  std::vector<std::string> args;
  bool of_several = false;  ///< of a script that takes any number of locks

  [[nodiscard]] const std::string& lock() const { return keys.at(0); }
  [[nodiscard]] std::string queue() const {
    return what == asked::renew || what == asked::revoke ? std::string() : keys.at(1);
  }
  [[nodiscard]] std::string holders() const { return lock() + ":h"; }
  [[nodiscard]] const std::string& owner() const { return args.at(0); }
  [[nodiscard]] bool has_no_owner() const {
    return what == asked::resize || what == asked::revoke || what == asked::break_lock;
  }
  /// The name under which the owner holds the lock after the step, if it does.
  [[nodiscard]] const std::string& owner_then() const { return args.at(what == asked::downgrade ? 4 : 0); }
  /// The prefix of the inbox channels; empty for a renewal, which publishes nothing.
  [[nodiscard]] std::string inboxes() const {
    if (what == asked::renew) return {};
    return args.at(has_no_owner() ? 0 : what == asked::release ? 1 : 2);
  }
};

/// The value of a lock's key: its holder, the fence of its readers, or the count of a semaphore.
struct lock_state {
  explicit lock_state(const std::string& value);
  enum class form { owner, readers, permits } is = form::owner;
  std::uint64_t size = 0, used = 0;  ///< of permits
};

/// Checks the invariants that only the server can see before and after each script: I6, I11 and I12.
class redis_audit {
 public:
  struct eyes {
    const redis_keys& keys;
    std::function<wall_time()> now;
    std::function<bool(const std::string& inbox)> listens;  ///< whether a client does, by the server's count
    std::function<std::string()> history;                   ///< of its data
  };
  /// `in_order`: no fault of this run changes the order of a queue.
  /// `handed_on`: no release leaves the lock free for the first that polls.
  redis_audit(world& w, eyes e, bool in_order, bool handed_on)
      : world_(w), eyes_(std::move(e)), in_order_(in_order), handed_on_(handed_on) {}

  /// One run of a script: a step, or the same of several locks.
  void before(const std::vector<redis_step>&);
  void after(const std::vector<redis_step>&, const redis::value& reply);
  /// Records grants and renewals in `grants` while `leads` returns true: while this server is the primary.
  void tell(known_grants& grants, std::function<bool()> leads) {
    grants_ = &grants;
    leads_ = std::move(leads);
  }
  /// A client received an answer.
  void heard(const storage::owner_id&, asked, bool yes);
  /// A client received a revoke request.
  void told_to_let_go(const storage::owner_id&);
  /// The server has lost its data.
  void forgot() { last_break_.clear(); }
  /// Returns how often the release of this owner was carried out.
  [[nodiscard]] long releases_of(const std::string& owner) const;

 private:
  struct view {
    std::optional<redis_keys::cell> lock{};
    std::vector<std::string> line{};
    std::map<std::string, std::int64_t> holders{};  // with their expiry; the last may have expired
    std::string confirmed{};                        // the history in which readers were admitted; empty if unknown
    std::uint64_t fence = 0;                        // the last one
  };
  [[nodiscard]] view look(const redis_step&) const;
  [[nodiscard]] bool lives(const std::string& owner) const;
  [[nodiscard]] bool is_in(const view&, const std::string& owner) const;
  [[nodiscard]] std::vector<std::string> let_in(const redis_step&, const view& now) const;
  [[nodiscard]] std::uint64_t place_of(const std::string& who, const redis_step&) const;
  void check_who_changed_it(const redis_step&, const view& now);
  [[nodiscard]] bool is_meant(const redis_step&, const std::string& who) const;
  void check_break(const redis_step&, const view& now, const redis::value& reply);
  void check_form(const view& now);
  void check_confirmed(const redis_step&, const view& now, const redis::value& reply);
  void check_order(const redis_step&, const view& now);
  void check_idle(const redis_step&, const view& now, const redis::value& reply);
  [[nodiscard]] bool has_room_for(const std::string& waiter, const view& now) const;
  void note_places(const redis_step&, const view& now, const redis::value& reply);
  void note_grants(const redis_step&, const view& now);
  void tell_grants(const redis_step&, const view& now, const redis::value& reply) const;
  void note_asked(const redis::value& reply);
  void note_answer(const redis_step&, const view& now, const redis::value& reply);

  world& world_;
  const eyes eyes_;
  const bool in_order_;
  const bool handed_on_;
  known_grants* grants_ = nullptr;
  std::function<bool()> leads_;
  std::vector<view> all_before_;
  view before_;                                    // of the lock that is checked
  std::set<std::string> asked_to_let_go_;          // claims
  std::map<std::string, std::string> last_break_;  // of locks: the id of the call
  std::uint64_t last_place_ = 0;
  std::map<std::string, std::uint64_t> places_;                           // by owner, in order of arrival
  std::map<std::pair<std::string, std::string>, std::uint64_t> tickets_;  // the place of an owner, by its ticket
  std::map<std::string, long> releases_;                                  // of owners
  std::map<std::tuple<std::string, asked, bool>, long> answers_;          // sent but not yet received, by claim
};

}  // namespace holdfast::sim
