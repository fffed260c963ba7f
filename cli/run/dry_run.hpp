#pragma once
#include "run/run.hpp"

namespace holdfast::cli {

/// Says whether the lock could be had now, who holds it, and what would be run; takes nothing. Returns what a run with
/// -n would exit with if its command did nothing.
[[nodiscard]] int dry_run(const run_options&);

}  // namespace holdfast::cli
