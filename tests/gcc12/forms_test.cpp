/// Keeps the list of what g++ 12 does to coroutines: silently, at every level of optimisation. See await_rule.py for
/// the rule that follows from it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <optional>

#include "gcc12/forms.hpp"

namespace gcc12 {

std::ostream& operator<<(std::ostream& out, verdict v) {
  switch (v) {
    case verdict::right: return out << "right";
    case verdict::destroyed_twice: return out << "wrong: a temporary is destroyed twice";
    case verdict::body_lost: return out << "wrong: its body does not run";
  }
  return out;
}

namespace {

verdict run(const form& f, bool suspends) {
  pause::suspends = suspends;
  const std::optional<int> value = f.make().run();
  if (value != f.wanted) return verdict::body_lost;
  return probe::alive == 0 ? verdict::right : verdict::destroyed_twice;
}

/// In a process of its own, since a miscompiled form may do anything.
verdict judge(const form& f, bool suspends) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(static_cast<int>(run(f, suspends)));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<verdict>(WEXITSTATUS(status)) : verdict::body_lost;
}

#if defined(__clang__)
constexpr bool knows_faults = true;
verdict expected(const form&) { return verdict::right; }
#else
constexpr bool knows_faults = __GNUC__ == 12;  // the list is for this compiler; the results of others are only printed
verdict expected(const form& f) { return f.on_gcc12; }
#endif

constexpr bool suspending[] = {false, true};

void expect_right(std::span<const form> forms, const char* if_not) {
  for (const form& f : forms) {
    for (const bool suspends : suspending) {
      EXPECT_EQ(judge(f, suspends), verdict::right)
          << "when " << f.name << (suspends ? " and the callee suspends" : "") << '\n'
          << if_not;
    }
  }
}

TEST(coroutine_forms, that_we_rely_on_compile_correctly) {
  expect_right(relied_on(), "This compiler cannot build the library: all its coroutines are written in these forms.");
}

TEST(coroutine_forms, options_and_limits_may_be_built_in_an_await) {
  expect_right(public_types(), "Our users write this, and with this compiler they must not.");
}

TEST(coroutine_forms, that_we_avoid_are_miscompiled_as_expected) {
  for (const form& f : avoided()) {
    for (const bool suspends : suspending) {
      const verdict found = judge(f, suspends);
      if (!knows_faults) {
        std::cout << "when " << f.name << ": " << found << '\n';
        continue;
      }
      EXPECT_EQ(found, expected(f)) << "when " << f.name << (suspends ? " and the callee suspends" : "")
                                    << "\nThe compiler has changed: correct the list, and see whether the await rule "
                                       "can be relaxed or must grow.";
    }
  }
}

}  // namespace
}  // namespace gcc12
