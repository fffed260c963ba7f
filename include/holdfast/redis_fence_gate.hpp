#pragma once
#include <string>

namespace holdfast {

/// The resource's side of a fence for values in Redis or Valkey: Lua for EVAL, with whatever client sends it.
///
/// KEYS[1] is the value, a plain string; KEYS[2] is its gate, the highest fence that it has seen. The gate has no end,
/// and the server must not evict it. In a cluster both must be in one slot, as "{seat/7}" and "{seat/7}:fence" are.
/// ARGV[1] is the fence, in decimal digits.
struct redis_fence_gate {
  /// ARGV[2] is the value; without it, it is deleted. 1: done; 0: refused.
  [[nodiscard]] static const std::string& set();
  /// {1, value}, where the value may be nil; {0}: refused. From then on the gate refuses older holders.
  [[nodiscard]] static const std::string& get();
};

}  // namespace holdfast
