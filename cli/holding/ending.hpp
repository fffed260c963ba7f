#pragma once
#include <chrono>

namespace holdfast::cli {

/// What, besides a signal, ends a wait or a hold: those for whom it is have no use for it any more.
class ending {
 public:
  virtual ~ending() = default;
  /// Readable when over() is worth a look; -1: it cannot tell for now, and is to be asked again in a while.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Never blocks; once true, always true.
  [[nodiscard]] virtual bool over() noexcept = 0;
};

/// How long to wait for something whose descriptor is -1.
inline constexpr std::chrono::milliseconds ask_again{500};

}  // namespace holdfast::cli
