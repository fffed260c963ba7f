#pragma once

namespace holdfast::runtime {

/// How many forks lie between this process and the one that loaded the library. What was made in another generation
/// belongs to another process: its threads are not here, and its locks may be held by nobody.
[[nodiscard]] unsigned fork_generation() noexcept;

/// A descriptor whose copy in a forked child would keep something alive after its owner's death: while this lives, it
/// is closed there. Declared after the descriptor: it must go before that is closed here.
class closed_in_children {
 public:
  explicit closed_in_children(int fd);
  closed_in_children(const closed_in_children&) = delete;
  closed_in_children& operator=(const closed_in_children&) = delete;
  ~closed_in_children();

 private:
  const int fd_;
};

}  // namespace holdfast::runtime
