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

/// Asks the server for all that matters to locks, and judges it. Takes about a second: the clocks are watched for so
/// long. Each request has as much time as the limit leaves now. What the user may not ask is a note. No key is changed.
/// Of a cluster each primary is asked, one after the other, and the cluster itself. All that is given by reference must
/// outlive the task.
[[nodiscard]] runtime::task<storage::answer<std::vector<finding>>> examine(runtime::io&, transport&, const settings&,
                                                                           limit);

}  // namespace holdfast::redis
