#include "completion/completion.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "completion/candidates.hpp"
#include "exit_code.hpp"

namespace holdfast::cli {

action describe_completion(CLI::App& program, const user_command& after_dashes) {
  program.add_subcommand("complete", "For shells: how the last word may go on")->group("");
  return [&program, &after_dashes] {
    for (const candidate& each : candidates(program, after_dashes)) {
      std::printf("%s\t%s\n", each.word.c_str(), each.about.c_str());
    }
    return static_cast<int>(fine);
  };
}

}  // namespace holdfast::cli
