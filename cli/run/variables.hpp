#pragma once
#include <holdfast/lease.hpp>
#include <holdfast/store.hpp>

#include "process/environment.hpp"
#include "run/run.hpp"

namespace holdfast::cli {

/// What the command finds in its environment. All are set or taken away, so that those of a run around us are not
/// mistaken for ours.
[[nodiscard]] environment variables(const run_options&, const store&, const lease&);

}  // namespace holdfast::cli
