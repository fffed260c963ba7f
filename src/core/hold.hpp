#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "holdfast/lease.hpp"
#include "runtime/async_mutex.hpp"
#include "runtime/clock.hpp"
#include "runtime/guarded.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

using runtime::instant;
using runtime::span;
using std::chrono::milliseconds;

/// How a caller wants to hold.
struct terms {
  storage::share wants{};
  milliseconds ttl{};
  bool renew = true;
  milliseconds max_hold{0};
  milliseconds delay{0};  ///< so long it stays closed when it was not released but ran out
  bool fair = true;
  std::string label{};

  /// A hold that was taken on these terms may be passed on to a local caller with those.
  [[nodiscard]] bool pass_on_to(const terms& next) const noexcept;
  /// The same terms for a reader.
  [[nodiscard]] terms as_reader() const;
};

class hold;

/// One tenancy of a hold: what a lease is to its user. It has a fence and a loss of its own, while the hold may pass
/// from one local caller to the next.
class tenancy {
 public:
  enum class phase { held, released, lost };

  tenancy(std::shared_ptr<hold> of, std::uint64_t fence, instant began) noexcept;

  /// Not released, not lost, before the deadline. Once false, it is false for ever.
  [[nodiscard]] bool held(instant now) noexcept;
  [[nodiscard]] phase state() const noexcept { return phase_; }
  /// Ends it; false if it had ended before.
  bool end(phase how) noexcept;
  /// What became of the release, as far as is known.
  [[nodiscard]] released given_back() const noexcept { return given_back_; }
  void give_back(released how) noexcept { given_back_ = how; }

  [[nodiscard]] std::stop_token lost_token();
  /// Marks the loss. Who has to be stopped, on the executor: nobody, when nobody has asked for the token.
  [[nodiscard]] std::optional<std::stop_source> mark_loss();
  /// The same for one who is asked to let go.
  [[nodiscard]] std::stop_token asked_token();
  [[nodiscard]] std::optional<std::stop_source> mark_asked();

  [[nodiscard]] const std::shared_ptr<hold>& of() const noexcept { return hold_; }
  [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }
  [[nodiscard]] instant began() const noexcept { return began_; }

 private:
  const std::shared_ptr<hold> hold_;
  const std::uint64_t fence_;
  const instant began_;
  std::atomic<phase> phase_{phase::held};
  std::atomic<released> given_back_{released::yes};
  struct notice {
    std::stop_source source{std::nostopstate};  // made when somebody asks for the token
    bool announced = false;
    [[nodiscard]] std::stop_token token();
    [[nodiscard]] std::optional<std::stop_source> mark();
  };
  struct notices {
    notice lost, asked;
  };
  runtime::guarded<notices> notices_;
};

/// A claim that was granted: what the keeper keeps.
class hold {
 public:
  hold(std::string name, terms on, const storage::owner_id&, std::unique_ptr<storage::claim>, const storage::grant&,
       instant now) noexcept;

  const std::string name;
  const terms on;
  const storage::owner_id owner;
  const std::unique_ptr<storage::claim> claim;
  runtime::async_mutex mutex;  ///< held during every call on the claim: a release waits for a renewal in flight

  /// Local callers wait for a whole lock in a room, and may get it from each other.
  [[nodiscard]] bool has_room() const noexcept { return has_room_; }
  /// True, once: whoever asks has to call the next one in.
  [[nodiscard]] bool leave_room() noexcept { return has_room_.exchange(false); }
  [[nodiscard]] milliseconds ttl() const noexcept { return ttl_; }
  void change_ttl(milliseconds to) noexcept { ttl_ = to; }
  /// The longest ttl that the store was ever asked for, answered or not: after that it has dropped us by itself.
  milliseconds longest_ttl;  // with the turn
  unsigned unanswered = 0;   ///< renewals, since the last answer; with the turn

  /// The deadline decides between life and death: it moves only from a value that was not over yet, and once somebody
  /// saw it over, it is over for good.
  [[nodiscard]] instant deadline() const noexcept { return deadline_; }
  /// Until the deadline; 0 when it is over, by whoever ended it.
  [[nodiscard]] span left(instant now) const noexcept { return std::max(deadline(), now) - now; }
  [[nodiscard]] bool valid(instant now) noexcept;
  bool extend(instant to, instant now) noexcept;  ///< false: it was over; never shortens
  [[nodiscard]] instant must_end() const noexcept { return must_end_; }

  /// A new tenancy with the next fence; none if the hold is finished or its fences are used up.
  [[nodiscard]] static std::shared_ptr<tenancy> seat(const std::shared_ptr<hold>&, instant now);
  /// How many tenancies there were, and since when the first.
  [[nodiscard]] unsigned seated() const noexcept { return seated_; }
  [[nodiscard]] instant began() const noexcept { return began_; }

  /// Somebody asks its tenant to let go: then nobody is seated any more. Who is asked; nobody, if it was asked before,
  /// or is not the one that is meant, or the hold is finished.
  [[nodiscard]] std::shared_ptr<tenancy> ask(const storage::revoke_request&) noexcept;

  /// Ends the hold. One caller only gets its last tenant: that one takes care of the claim and of the room.
  [[nodiscard]] std::shared_ptr<tenancy> finish() noexcept;
  [[nodiscard]] bool finished() const noexcept;
  [[nodiscard]] std::uint64_t fence() const noexcept;  ///< of its tenant; 0 if it has none any more

  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t place = nowhere;  ///< in the keeper's heap, under its lock
  bool to_be_kept = false;      ///< on the loop: it is due, and the keeper has not begun

 private:
  struct tenure {
    bool finished = false;
    bool asked = false;
    std::uint64_t next_fence = 0;
    std::uint64_t fences = 0;           // left
    std::shared_ptr<tenancy> tenant{};  // it owns the hold in turn, until finish() cuts the circle
  };
  const instant began_;
  const instant must_end_;
  std::atomic<milliseconds> ttl_;
  std::atomic<instant> deadline_;
  std::atomic<unsigned> seated_{0};
  std::atomic<bool> has_room_;
  runtime::guarded<tenure> tenure_;
};

}  // namespace holdfast::core
