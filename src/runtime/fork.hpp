#pragma once

namespace holdfast::runtime {

/// How many forks lie between this process and the one that loaded the library. What was made in another generation
/// belongs to another process: its threads are not here, and its locks may be held by nobody.
[[nodiscard]] unsigned fork_generation() noexcept;

}  // namespace holdfast::runtime
