#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "directory/message.hpp"
#include "directory/mint.hpp"
#include "directory/places.hpp"
#include "directory/sessions.hpp"

namespace holdfast::directory {

constexpr std::uint64_t fences_in_a_block = 64;
/// How many fences come with it: whoever is alone may hand its lock on within its process.
[[nodiscard]] constexpr std::uint64_t fences_of(const storage::share& s) noexcept {
  return s.exclusive() ? fences_in_a_block : 1;
}

/// Somebody who was let in, and must be told; or, without a fence, who has others before it than it thinks.
struct summons {
  session_id session;
  message text;
};

/// All who hold and wait for one name, while a transaction lasts; and the rule by which they come in: see
/// storage::share. One counts as long as its session lives and, if its lease is fixed, its time has not run out.
class gathering {
 public:
  /// Those whose time has run out go. `told` gets whoever has to hear of what happens here.
  gathering(places&, mint&, const sessions&, const std::string& name, std::vector<summons>& told);

  [[nodiscard]] std::uint32_t whole() const noexcept { return all_.whole; }
  [[nodiscard]] bool idle() { return all_.used == 0 && !somebody_waits(); }
  [[nodiscard]] bool somebody_waits() { return first_in_line().has_value(); }
  [[nodiscard]] bool holds(const entry&);
  [[nodiscard]] bool knows(const entry& who) { return holds(who) || waits(who); }

  /// In order of arrival, for as long as the first has room.
  void serve();
  /// The sessions of those who hold. What the dead held goes to those who wait. `one`: if one lives, that is enough.
  [[nodiscard]] std::vector<session_id> living_holders(bool one);
  /// The fence of one who is in; one who has just come gets in if there is room and nobody waits.
  [[nodiscard]] std::optional<std::uint64_t> admit(const entry&, bool known);
  /// The same, though others wait.
  [[nodiscard]] std::optional<std::uint64_t> barge(const entry&);
  void wait(entry&);
  /// Of those who wait before it, the last that lives.
  [[nodiscard]] std::optional<session_id> predecessor(const entry&);

  [[nodiscard]] bool downgrade(const entry&, std::uint64_t fence, milliseconds ttl);
  void resize(std::uint32_t whole);
  [[nodiscard]] bool leave(const entry&);
  void take_from(const places::row& holder);  ///< by force
  void forget(session_id);                    ///< whatever it has here
  void forget_holders(session_id);            ///< what it holds here

  /// What has changed for all. Before the transaction is kept.
  void save();

 private:
  [[nodiscard]] bool has_room_for(std::uint32_t part) const noexcept { return all_.used + part <= all_.whole; }
  [[nodiscard]] bool waits(const entry&);
  [[nodiscard]] std::uint64_t enter(const entry&);
  [[nodiscard]] std::optional<places::waiter> first_in_line();
  [[nodiscard]] std::uint64_t fence_for(std::uint32_t part);
  void let_in(const places::waiter&);
  void tell_to_look(const places::waiter&);
  void give_back(std::uint64_t parts) noexcept { all_.used -= std::min(all_.used, parts); }

  places& rows_;
  mint& mint_;
  const sessions& sessions_;
  const std::string& name_;
  std::vector<summons>& told_;
  const places::sum before_;
  places::sum all_;
  bool nobody_waits_;  // for sure
};

}  // namespace holdfast::directory
