#include "text/words.hpp"

#include <unistd.h>

#include <string>

#include "process/descriptor.hpp"
#include "text/printable.hpp"

namespace holdfast::cli {

void say_in_words(std::string_view line) { write_while_read(STDERR_FILENO, "holdfast: " + printable(line) + "\n"); }

}  // namespace holdfast::cli
