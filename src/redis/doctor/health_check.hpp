#pragma once
#include <vector>

#include "holdfast/finding.hpp"
#include "holdfast/limit.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/protocol/transport.hpp"
#include "runtime/io.hpp"
#include "runtime/task.hpp"
#include "storage/answer.hpp"

namespace holdfast::redis {

/// Checks the settings and the state of a server that matter to locks. Takes about a second, for which it watches the
/// clock. Each request may take as long as the limit leaves at the start. Requests that the user is not permitted to
/// send are reported as notes. Changes no key. In a cluster each primary is checked in turn, and the cluster itself.
/// What is passed by reference must outlive the task.
[[nodiscard]] runtime::task<storage::answer<std::vector<finding>>> examine(runtime::io&, transport&, const settings&,
                                                                           limit);

}  // namespace holdfast::redis
