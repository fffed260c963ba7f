#pragma once
#include "redis/protocol/server_info.hpp"
#include "storage/findings.hpp"

namespace holdfast::redis {

/// Reports what the values in `known` mean for locks. See health_facts.hpp for the values; nothing is reported about
/// those that are missing.
void judge(const server_info& known, storage::findings&);

}  // namespace holdfast::redis
