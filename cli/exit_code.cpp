#include "exit_code.hpp"

#include "process/io.hpp"

namespace holdfast::cli {

int carry_out(const action& does, bool quiet) {
  try {
    return does();
  } catch (const lock_error& e) {
    if (!quiet) say_in_words(e.what());
    return code_of(e);
  } catch (const std::exception& e) {
    if (!quiet) say_in_words(e.what());
    return internal;
  }
}

}  // namespace holdfast::cli
