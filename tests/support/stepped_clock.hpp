#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace holdfast::test {

/// The wall clock of the servers that are started with its environment. It goes as ours does, and can be set while they
/// run; their monotonic clocks are left alone. It must outlive them.
class stepped_clock {
 public:
  stepped_clock() { set_ahead(std::chrono::milliseconds(0)); }

  /// Of ours, by so much; may be negative. Throws std::runtime_error if it cannot be set.
  void set_ahead(std::chrono::milliseconds) const;
  /// What a server has to have in its environment.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  temporary_folder folder_;
  const std::string offset_ = folder_.file("offset");
};

}  // namespace holdfast::test
