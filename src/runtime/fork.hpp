#pragma once

namespace holdfast::runtime {

/// The number of forks between this process and the one that loaded the library. An object that was created in another
/// generation belongs to another process: its threads do not exist here, and its mutexes may stay locked forever.
[[nodiscard]] unsigned fork_generation() noexcept;

/// Closes a descriptor in forked children for as long as this object exists. For descriptors whose copies would keep
/// something alive after the death of this process. Declare it after the descriptor, so that it is destroyed first.
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
