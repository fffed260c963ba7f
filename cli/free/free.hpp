#pragma once
#include <chrono>
#include <holdfast/store.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "holding/options.hpp"

namespace holdfast::cli {

/// `holdfast try NAME...` and `holdfast wait NAME...`: whether it could be had, without taking it.
struct free_options {
  hold_options wanted{};  ///< what, as a reader or not, how many permits, and for how long to wait
  bool json = false;
};

/// See command.hpp.
[[nodiscard]] command_spec describe_try(const user_command& after_dashes);
[[nodiscard]] command_spec describe_wait(const user_command& after_dashes);

/// To the end. Return the exit code. Throw lock_error.
[[nodiscard]] int try_now(const free_options&);
[[nodiscard]] int wait_until_free(const free_options&);

/// What one look says about what is wanted.
enum class outlook {
  free,          ///< it could be had at that moment: nobody is in the way, and nobody waits who came before
  taken,         ///< not now
  another_size,  ///< it is a semaphore of another number of permits: whoever asks for it is refused
};
[[nodiscard]] outlook outlook_of(const state&, const hold_options& wanted);

/// One look at all names.
struct sight {
  std::string name;
  state is;
  bool free;
};
/// Throws lock_error, when the limit ends at the latest; errc::foreign for a semaphore of another size, as whoever asks
/// for it gets.
[[nodiscard]] std::vector<sight> look(const store&, const hold_options& wanted, const limit&);
/// For whoever does not want to wait: so long a store may take to answer.
[[nodiscard]] limit for_one_look();
/// "NAME, held by ...", for whoever wants to know why it is not free.
[[nodiscard]] std::string in_words(const sight&);

}  // namespace holdfast::cli
