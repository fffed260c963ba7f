#pragma once
#include <chrono>
#include <holdfast/store.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "hold/options.hpp"

namespace holdfast::cli {

/// `holdfast try NAME...` and `holdfast wait NAME...`: report whether a lock is free, without acquiring it.
struct probe_options {
  hold_options wanted{};  ///< what to look for, and how long to wait
  bool json = false;
};

/// See command.hpp.
[[nodiscard]] command_spec describe_try(const user_command& after_dashes);
[[nodiscard]] command_spec describe_wait(const user_command& after_dashes);

/// Return the exit code. Throw lock_error.
[[nodiscard]] int try_now(const probe_options&);
[[nodiscard]] int wait_until_free(const probe_options&);

/// Whether the lock could be acquired when the store was asked.
enum class availability {
  free,          ///< yes: no holder or waiter is in the way
  taken,         ///< no
  another_size,  ///< the name is a semaphore with another number of permits, so acquiring would fail
};
[[nodiscard]] availability availability_of(const state&, const hold_options& wanted);

/// The availability of one name.
struct probe_result {
  std::string name;
  state is;
  bool free;
};
/// Asks the store about all names. Throws lock_error, also if the limit ends first; errc::foreign for a semaphore of
/// another size, like acquiring it.
[[nodiscard]] std::vector<probe_result> look(const store&, const hold_options& wanted, const limit&);
/// How long the store may take to answer if the user does not wait.
[[nodiscard]] limit probe_limit();
/// "NAME, held by ...", for messages.
[[nodiscard]] std::string in_words(const probe_result&);

}  // namespace holdfast::cli
