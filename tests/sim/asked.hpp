#pragma once

namespace holdfast::sim {

/// The three questions to a store.
enum class asked { poll, renew, release };

}  // namespace holdfast::sim
