#include "exit_code.hpp"

#include "process/io.hpp"

namespace holdfast::cli {

int run_action(const action& does, bool quiet) {
  try {
    return does();
  } catch (const lock_error& e) {
    if (!quiet) print_message(e.what());
    return code_of(e);
  } catch (const std::exception& e) {
    if (!quiet) print_message(e.what());
    return internal;
  }
}

}  // namespace holdfast::cli
