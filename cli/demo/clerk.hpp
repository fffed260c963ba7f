#pragma once
#include <chrono>
#include <string>

#include "demo/stage.hpp"

namespace holdfast::cli {

/// Somebody in the office that is kept open: holds a name for a while, lets go, and comes again.
struct clerk {
  enum class kind { seller, reader, cashier };
  kind does = kind::seller;
  int number = 0;
  std::string store{};
  std::string name{};    ///< the lock of sellers and readers; the semaphore of cashiers
  std::string office{};  ///< of sellers: the file of the ticket office
  std::chrono::milliseconds holds{1'500};
  std::chrono::milliseconds pauses{0};  ///< before it comes again
};

inline constexpr unsigned tills = 2;  ///< the permits of the cashiers' semaphore
inline constexpr int seats_of_a_train = 500;

/// In a process of its own, until nobody writes to that pipe any more. A store that fails is asked again. Returns the
/// exit code.
[[nodiscard]] int work_until_closing(const clerk&, int closing, stage&);

}  // namespace holdfast::cli
