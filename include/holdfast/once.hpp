#pragma once
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "holdfast/lease.hpp"
#include "holdfast/limit.hpp"
#include "holdfast/options.hpp"
#include "holdfast/store.hpp"

namespace holdfast {

namespace detail {

struct once_state;

/// One caller of once(): where it stands.
class once_turn {
 public:
  once_turn(const store&, std::string_view name, const limit&, const lock_options&);  ///< throws lock_error
  once_turn(const once_turn&) = delete;
  once_turn& operator=(const once_turn&) = delete;
  ~once_turn();  ///< gives back what it holds

  /// Until it is worth to look again. False: the limit is over. Throws lock_error.
  [[nodiscard]] bool comes();
  /// Ours to make: the lock, once comes() brought it; else null.
  [[nodiscard]] lease* to_make() noexcept;

 private:
  std::unique_ptr<once_state> state_;
};

template <class Look>
using found = std::remove_cvref_t<std::invoke_result_t<Look&>>;

/// `make` may take the lease under which it runs.
template <class Found, class Make>
Found made_by(Make& make, lease& held) {
  if constexpr (std::is_invocable_v<Make&, lease&>) {
    return std::invoke(make, held);
  } else {
    return std::invoke(make);
  }
}

}  // namespace detail

/// Makes something once for many: of all processes and machines that find nothing, one makes it, and the others wait
/// and look again, all together. Against a stampede on a cache whose entry has run out. The store keeps only the lock
/// of that name; the value is where `look` looks and `make` puts it.
///
/// `look()` gives what is there, as something that is false if nothing is: a std::optional, a pointer, a bool. It is
/// asked first, without a word to the store, and again after each wait. `make()`, or `make(lease&)`, puts it there and
/// returns it, under the lock. What it throws goes to its caller; then, or if its process dies, one of the others makes
/// it. A maker that is paused beyond its ttl may be the second one that makes: whoever minds gives the lease's fence to
/// the place it writes to.
///
/// The limit is for the waiting: empty when it is over, or its token stops. If it ends before the store has answered,
/// that is an error (unreachable). Blocks the calling thread; neither `look` nor `make` may call once() for the same
/// name. Throws lock_error, and what `look` and `make` throw.
template <std::invocable Look, class Make>
[[nodiscard]] detail::found<Look> once(const store& s, std::string_view name, const limit& until, Look look, Make make,
                                       const lock_options& options = {}) {
  using value = detail::found<Look>;
  static_assert(std::is_constructible_v<bool, value> && std::is_default_constructible_v<value>,
                "look() gives what is there, false if nothing is: a std::optional, a pointer, a bool");
  static_assert(std::is_invocable_r_v<value, Make&> || std::is_invocable_r_v<value, Make&, lease&>,
                "make(), or make(lease&), gives what look() gives");
  detail::once_turn turn(s, name, until, options);
  for (;;) {
    detail::found<Look> there = look();
    if (there) return there;
    if (lease* const mine = turn.to_make()) return detail::made_by<detail::found<Look>>(make, *mine);
    if (!turn.comes()) return detail::found<Look>();
  }
}

/// The same for as long as it takes: empty only if `make` gives nothing.
template <std::invocable Look, class Make>
detail::found<Look> once(const store& s, std::string_view name, Look look, Make make,
                         const lock_options& options = {}) {
  return once(s, name, limit(boot_clock::time_point::max()), std::move(look), std::move(make), options);
}

}  // namespace holdfast
