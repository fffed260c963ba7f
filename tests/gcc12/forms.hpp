/// One way to write a co_await, what it must give, and what g++ 12 makes of it.
#pragma once
#include <span>

#include "gcc12/coroutine.hpp"

namespace gcc12 {

enum class verdict {
  right,
  destroyed_twice,  ///< a temporary of the co_await expression dies once too often
  body_lost,        ///< its body does not run; what runs instead is chance: it never ends, crashes, gives nonsense
};

struct form {
  const char* name;
  task<int> (*make)();  ///< a function with a name: a lambda hides some of the faults
  int wanted;
  verdict on_gcc12;
};

/// The forms that tests/repo/await_rule.py allows. Every compiler must get these right.
std::span<const form> relied_on();

/// What our users write: options in braces, a limit made in place. The rule keeps braces out of our own awaits; theirs
/// are safe because options need no destructor and a limit is no aggregate.
std::span<const form> public_types();

/// The forms that the rule forbids, and a few harmless neighbours that show where the fault begins.
std::span<const form> avoided();

}  // namespace gcc12
