#pragma once
#include <chrono>

/// Helpers for tests in which one server replaces another.
namespace holdfast::faults {

/// How long a client tries: sentinels need up to 15 s to agree on a new primary.
constexpr std::chrono::milliseconds failover_patience = std::chrono::seconds(25);
/// The URL option for a short timeout: servers on this machine answer at once or not at all.
constexpr const char* short_timeout = "timeout=300ms";

}  // namespace holdfast::faults
