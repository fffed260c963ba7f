#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace holdfast::test {

/// The wall clock of servers that are started with its environment. It has an offset to the real one that can be
/// changed while they run; their monotonic clocks are unchanged. It must outlive them.
class stepped_clock {
 public:
  stepped_clock() { set_ahead(std::chrono::milliseconds(0)); }

  /// Sets the offset, which may be negative. Throws std::runtime_error if that fails.
  void set_ahead(std::chrono::milliseconds) const;
  /// The environment that a server needs.
  [[nodiscard]] std::vector<std::string> environment() const;

 private:
  temporary_folder folder_;
  const std::string offset_ = folder_.file("offset");
};

}  // namespace holdfast::test
