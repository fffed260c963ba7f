#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/asked.hpp"
#include "sim/redis_keys.hpp"
#include "sim/world.hpp"
#include "store/claim.hpp"

namespace holdfast::sim {

/// One run of one of our scripts.
struct redis_step {
  asked what;
  std::vector<std::string> keys;
  std::vector<std::string> args;

  [[nodiscard]] const std::string& lock() const { return keys.at(0); }
  [[nodiscard]] const std::string& owner() const { return args.at(0); }
};

/// The invariants that only the server can see, looked at before and after each script: I6, I11 and I12.
class redis_audit {
 public:
  struct eyes {
    const redis_keys& keys;
    std::function<wall_time()> now;
    std::function<bool(const std::string& inbox)> listens;  ///< whether anybody does, by the server's count
  };
  /// `in_order`: no fault of this run moves anybody's place.
  redis_audit(world& w, eyes e, bool in_order) : world_(w), eyes_(std::move(e)), in_order_(in_order) {}

  void before(const redis_step&);
  void after(const redis_step&, const redis::value& reply);
  /// A client has had an answer.
  void heard(const seam::owner_id&, asked, bool yes);
  /// How often its release was carried out.
  [[nodiscard]] long releases_of(const std::string& owner) const;

 private:
  struct view {
    std::optional<redis_keys::cell> lock;
    std::vector<std::string> line;
  };
  [[nodiscard]] view look(const redis_step&) const;
  [[nodiscard]] bool lives(const std::string& owner) const;
  [[nodiscard]] std::uint64_t place_of(const std::string& who, const redis_step&) const;
  void check_who_changed_it(const redis_step&, const view& now);
  void check_order(const redis_step&, const view& now, const redis::value& reply);
  void note_places(const redis_step&, const view& now, const redis::value& reply);
  void note_answer(const redis_step&, const view& now, const redis::value& reply);

  world& world_;
  const eyes eyes_;
  const bool in_order_;
  view before_;
  std::uint64_t last_place_ = 0;
  std::map<std::string, std::uint64_t> places_;                           // of owners, in order of their coming
  std::map<std::pair<std::string, std::string>, std::uint64_t> tickets_;  // which place an owner got with which
  std::map<std::string, long> releases_;                                  // of owners
  std::map<std::tuple<std::string, asked, bool>, long> answers_;          // said and not heard yet, by claim
};

}  // namespace holdfast::sim
