#pragma once

namespace holdfast::sim {

/// The questions to a store.
enum class asked { poll, renew, release, downgrade, resize, revoke, break_lock };

}  // namespace holdfast::sim
