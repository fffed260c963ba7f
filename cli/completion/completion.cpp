#include "completion/completion.hpp"

#include <cstdio>

#include "completion/candidates.hpp"
#include "exit_code.hpp"

namespace holdfast::cli {

command_spec describe_completion(const program_spec& program, const user_command& after_dashes) {
  return {
      .name = "complete", .description = "For shells: how the last word may go on", .act = [&program, &after_dashes] {
        for (const candidate& each : candidates(program, after_dashes)) {
          std::printf("%s\t%s\n", each.word.c_str(), each.about.c_str());
        }
        return static_cast<int>(fine);
      }};
}

}  // namespace holdfast::cli
