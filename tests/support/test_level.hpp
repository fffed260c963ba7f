#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace holdfast::test {

/// The volume of the tests, from HOLDFAST_TEST_LEVEL.
enum class test_level {
  test,   ///< the default: what every change runs
  check,  ///< everything, as before a release
};

/// Throws if HOLDFAST_TEST_LEVEL is neither empty, `test` nor `check`: a mistyped level must not pass for a full run.
inline test_level level() {
  const char* const text = std::getenv("HOLDFAST_TEST_LEVEL");
  const std::string name = text != nullptr ? text : "";
  if (name.empty() || name == "test") return test_level::test;
  if (name == "check") return test_level::check;
  throw std::runtime_error("invalid HOLDFAST_TEST_LEVEL: expected test or check, not '" + name + "'");
}

}  // namespace holdfast::test
