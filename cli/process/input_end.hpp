#pragma once
#include "holding/ending.hpp"

namespace holdfast::cli {

/// The end of stdin. What comes before it is dropped. In the background a terminal is not read: its keys are meant for
/// others, and whoever reads it there would be stopped.
class input_end final : public ending {
 public:
  input_end() noexcept;
  [[nodiscard]] int fd() const noexcept override;
  [[nodiscard]] bool over() noexcept override;

 private:
  const bool terminal_;
  bool over_ = false;
};

}  // namespace holdfast::cli
