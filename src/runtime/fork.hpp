#pragma once

namespace holdfast::runtime {

/// How many forks lie between this process and the one that loaded the library. What was made in another generation
/// belongs to another process: its threads are not here, and its locks may be held by nobody.
[[nodiscard]] unsigned fork_generation() noexcept;

/// A descriptor whose copy in a forked child would keep something alive after its owner's death: it is closed there.
void close_in_children(int fd);
void forget_in_children(int fd) noexcept;  ///< before it is closed here

}  // namespace holdfast::runtime
