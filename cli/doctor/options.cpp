#include <CLI/CLI.hpp>
#include <memory>

#include "carry_out.hpp"
#include "doctor/doctor.hpp"
#include "help/help.hpp"

namespace holdfast::cli {

action describe_doctor(CLI::App& program, const user_command&) {
  const auto wanted = std::make_shared<doctor_options>();
  CLI::App& command = *program.add_subcommand("doctor", "What is unsafe about a store, and how to mend it");
  command.group("care");
  examples(command, {{"holdfast doctor", "the store that is in force"},
                     {"holdfast doctor -q || echo look at it", "for a monitor"}});
  wanted->store.add_to(command);
  command.add_flag("--json", wanted->json, "one JSON object");
  command.add_flag("-q,--quiet", wanted->quiet, "say nothing; the exit code tells: 0 fine, 1 a warning, 2 danger");
  command.add_flag("-v,--verbose", wanted->verbose, "what is fine, too");
  command.footer("Exit codes: 0 fine, 1 a warning, 2 danger; 64, 69, 70, 77, 78: it could not be examined.");
  return [wanted] { return carry_out([&] { return doctor(*wanted); }, wanted->quiet); };
}

}  // namespace holdfast::cli
