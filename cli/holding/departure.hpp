#pragma once
#include <holdfast/store.hpp>
#include <string>

namespace holdfast::cli {

/// Waits until the store does not know this process at that name any more, as a holder or in the queue; two seconds at
/// most, and for as long as the store takes to answer, or to be closed. Whoever gives up waiting leaves in the
/// background, and the end of its store would cut that short: others would still find it in the queue, if only to pass
/// it over. Throws nothing: a store that fails forgets it by itself.
void wait_until_gone_from(const store&, const std::string& name) noexcept;

}  // namespace holdfast::cli
