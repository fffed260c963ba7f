#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/holding.hpp"
#include "holdfast/limit.hpp"
#include "storage/answer.hpp"

namespace holdfast::core {

/// True if the limit has already passed: the caller never waits for another holder.
[[nodiscard]] inline bool is_one_look(const limit& until) noexcept {
  return until.at() != runtime::never && until.at() <= boot_clock::now();
}

/// What a caller asks for; it has been checked.
class request {
 public:
  request(std::string name_, terms on_, limit until_, bool one_look_)
      : name(std::move(name_)), on(std::move(on_)), until(std::move(until_)), one_look(one_look_) {}
  request(std::string name_, terms on_, const limit& until_)
      : request(std::move(name_), std::move(on_), until_, is_one_look(until_)) {}
  std::string name;
  std::vector<std::string> others{};  ///< more names; the lease covers all of them or none
  terms on;
  limit until;
  bool one_look;              ///< never wait for another holder, but for an answer as long as the store's patience
  bool bounded = false;       ///< with one_look: wait for an answer no longer than `until`
  bool needs_answer = false;  ///< a limit that ends before the store has answered is a failure, not busy
};

/// How an acquire ended.
class outcome {
 public:
  enum class kind { granted, busy, stopped, failed };
  static outcome granted(std::shared_ptr<lease_state> l) { return outcome(kind::granted, std::move(l), std::nullopt); }
  static outcome busy(std::string holder = {}) {
    outcome end(kind::busy, nullptr, std::nullopt);
    end.holder = std::move(holder);
    return end;
  }
  /// The limit ended before the store had answered, which counts as busy.
  static outcome unanswered(storage::failure why) { return outcome(kind::busy, nullptr, std::move(why)); }
  static outcome stopped() { return outcome(kind::stopped, nullptr, std::nullopt); }
  static outcome failed(storage::failure why) { return outcome(kind::failed, nullptr, std::move(why)); }
  /// A limit ended when the last try had failed with `why`. That is a failure if the store reported an error, or has
  /// been silent for its patience.
  static outcome at_limit(storage::failure why, bool silent, bool needs_answer);

  kind what;
  std::shared_ptr<lease_state> lease;   ///< if granted
  std::optional<storage::failure> why;  ///< if failed; if busy, the store has not answered
  std::string holder;                   ///< if busy: the holder's label, as far as the store knows it

 private:
  outcome(kind k, std::shared_ptr<lease_state> l, std::optional<storage::failure> f)
      : what(k), lease(std::move(l)), why(std::move(f)) {}
};

}  // namespace holdfast::core
