#pragma once
#include <chrono>
#include <string>

#include "demo/stage.hpp"

namespace holdfast::cli {

/// How a seller works.
struct seller_rules {
  int number = 0;
  std::string office{};  ///< the file of the ticket office
  std::string store{};   ///< empty: sells without a lock
  std::string lock{};    ///< its name
  bool fixed = false;    ///< with a lease of one second that is not renewed
};

/// How long the store keeps the lock of a seller that is gone; most stores notice it earlier or at its end.
inline constexpr std::chrono::seconds ttl_of_a_seller{2};

/// Sells until all is sold, in a process of its own. Returns its exit code.
[[nodiscard]] int sell_tickets(const seller_rules&, stage&);

}  // namespace holdfast::cli
