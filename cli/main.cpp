#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "admin/admin.hpp"
#include "arguments.hpp"
#include "bench/bench.hpp"
#include "command.hpp"
#include "completion/completion.hpp"
#include "config/config.hpp"
#include "demo/demo.hpp"
#include "doctor/doctor.hpp"
#include "elect/elect.hpp"
#include "exit_code.hpp"
#include "hold/holder.hpp"
#include "keeper/keeper.hpp"
#include "list/list.hpp"
#include "options/parser.hpp"
#include "probe/probe.hpp"
#include "run/run.hpp"
#include "top/top.hpp"
#include "watch/watch.hpp"

namespace holdfast::cli {
namespace {

/// Opens /dev/null in place of closed standard streams, so that no file of ours gets their number. The mode makes reads
/// of stdin and writes to stdout fail as before, and the descriptors are still closed for the command.
void fill_closed_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    const int wrong_mode = fd == 0 ? O_WRONLY : O_RDONLY;
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", wrong_mode | O_CLOEXEC);
  }
}

constexpr describer commands[] = {
    describe_run,     describe_elect, describe_hold,  describe_acquire,
    describe_release, describe_try,   describe_wait,                    // hold
    describe_ls,      describe_show,  describe_watch, describe_top,     // look
    describe_revoke,  describe_break,                                   // act
    describe_doctor,  describe_bench, describe_demo,  describe_config,  // care
};

/// The description of the program and the variables that its actions refer to.
struct described_program {
  user_command after_dashes{};
  program_spec program{
      .version = "holdfast " HOLDFAST_VERSION,
      .examples = {{"holdfast run backup -- ./backup.sh", "one at a time, the others wait"},
                   {"holdfast run --skip nightly -- ./report.sh", "for cron: one machine runs it"},
                   {"holdfast run --store redis://db deploy -- make", "across machines"}},
      .options = {{.names = "--version", .help = "Display program version information and exit"}, help_row()},
      .footer = "See holdfast COMMAND --help or man holdfast. Version: holdfast --version"};

  described_program() {
    for (const describer describe : commands) program.commands.push_back(describe(after_dashes));
    program.commands.push_back(describe_completion(program, after_dashes));
    for (command_spec& each : program.commands) each.options.insert(each.options.begin(), help_row());
  }
  described_program(const described_program&) = delete;
  described_program& operator=(const described_program&) = delete;
};

/// Translates `holdfast help [COMMAND]` to the equivalent options.
std::vector<std::string> help_arguments(const program_spec& program, const std::vector<std::string>& words) {
  if (words.size() == 1) return {"--help"};
  return program.find(words[1]) != nullptr ? std::vector<std::string>{words[1], "--help"}
                                           : std::vector<std::string>{words[1]};
}

}  // namespace

parsed_arguments read_arguments(int argc, const char* const* argv) {
  const char* const* const end = argv + argc;
  const char* const* const first = std::min(argv + 1, end);
  const auto described = std::make_shared<described_program>();
  const command_spec* const command = first == end ? nullptr : described->program.find(*first);
  const bool is_all_ours = command != nullptr && !command->runs_command;
  const auto is_dashes = [](const char* word) { return std::strcmp(word, "--") == 0; };
  const char* const* const dashes = is_all_ours ? end : std::find_if(first, end, is_dashes);
  if (dashes != end) described->after_dashes.assign(dashes + 1, end);

  std::vector<std::string> arguments(first, dashes);
  if (!arguments.empty() && arguments.front() == "help") arguments = help_arguments(described->program, arguments);
  parsed_arguments result = parse(described->program, arguments);
  if (result.act) result.act = [described, act = std::move(result.act)] { return act(); };
  return result;
}

}  // namespace holdfast::cli

int main(int argc, char** argv) {
  using namespace holdfast::cli;
  fill_closed_streams();
  return run_action([&] {
    const parsed_arguments wanted = read_arguments(argc, argv);
    if (wanted.act) return wanted.act();
    std::fputs(wanted.text.c_str(), wanted.code == fine ? stdout : stderr);
    return wanted.code;
  });
}
