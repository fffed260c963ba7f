#pragma once
#include <string>

namespace holdfast {

/// One thing that was looked at when a store was examined, and how it is.
struct finding {
  enum class severity {
    fine,     ///< it was looked at, and is as it should be
    note,     ///< worth knowing, or it could not be looked at
    warning,  ///< a fault that is to be expected (a restart, a takeover) can cost what the store promises
    danger,   ///< locks fail, or can be lost, without any other fault
  };
  severity level;
  std::string id;    ///< stable, for scripts: "redis.eviction"; docs/cli.md lists them
  std::string what;  ///< one sentence: what is so
  std::string why;   ///< what can happen because of it; empty when fine
  std::string cure;  ///< the command or the setting that mends it; empty when fine
};

}  // namespace holdfast
