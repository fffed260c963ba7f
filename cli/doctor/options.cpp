#include <memory>

#include "carry_out.hpp"
#include "doctor/doctor.hpp"

namespace holdfast::cli {

command_spec describe_doctor(const user_command&) {
  const auto wanted = std::make_shared<doctor_options>();
  return {.name = "doctor",
          .group = "care",
          .description = "What is unsafe about a store, and how to mend it",
          .examples = {{"holdfast doctor", "the store that is in force"},
                       {"holdfast doctor -q || echo look at it", "for a monitor"}},
          .options = {wanted->store.row(),
                      {.names = "--json", .help = "one JSON object", .into = &wanted->json},
                      {.names = "-q,--quiet",
                       .help = "say nothing; the exit code tells: 0 fine, 1 a warning, 2 danger",
                       .into = &wanted->quiet},
                      {.names = "-v,--verbose", .help = "what is fine, too", .into = &wanted->verbose}},
          .footer = "Exit codes: 0 fine, 1 a warning, 2 danger; 64, 69, 70, 77, 78: it could not be examined.",
          .act = [wanted] { return carry_out([&] { return doctor(*wanted); }, wanted->quiet); }};
}

}  // namespace holdfast::cli
