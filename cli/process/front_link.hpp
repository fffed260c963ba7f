#pragma once
#include "process/descriptor.hpp"

namespace holdfast::cli {

/// What a front and its worker say to each other.
struct front_message {
  enum class kind : int {
    // of the worker
    may_start,  ///< number: the command
    command_ended,
    stop,
    die,               ///< number: of what
    die_with_the_job,  ///< number: of what
    // of the front
    start,
    continued,
    not_stopped,
  };
  kind what{};
  int number = 0;
};

/// A pair of ends; neither survives exec. Throws std::system_error.
struct front_link {
  descriptor of_front, of_worker;
};
[[nodiscard]] front_link make_front_link();

/// To one that is gone: nothing happens.
void send(const descriptor& to, front_message::kind what, int number = 0) noexcept;
enum class received { message, nothing, end };
/// Does not wait.
[[nodiscard]] received receive(const descriptor& from, front_message& into) noexcept;

}  // namespace holdfast::cli
