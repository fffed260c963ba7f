#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <holdfast/holdfast.hpp>
#include <memory>
#include <sstream>
#include <vector>

#include "arguments.hpp"
#include "bench/bench.hpp"
#include "carry_out.hpp"
#include "command.hpp"
#include "completion/completion.hpp"
#include "config/show.hpp"
#include "demo/demo.hpp"
#include "doctor/doctor.hpp"
#include "elect/elect.hpp"
#include "exit_code.hpp"
#include "free/free.hpp"
#include "help/help.hpp"
#include "help/refusal.hpp"
#include "hold/hold.hpp"
#include "keeper/keeper.hpp"
#include "letting_go/letting_go.hpp"
#include "looking/looking.hpp"
#include "run/run.hpp"
#include "top/top.hpp"
#include "watch/watch.hpp"

namespace holdfast::cli {
namespace {

/// A program that is started with a standard stream closed would get its next file there. The command shall find it
/// closed, as it was.
void occupy_closed_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

constexpr describer commands[] = {
    describe_run,    describe_elect, describe_hold,  describe_acquire, describe_release,
    describe_try,    describe_wait,                                                          // hold
    describe_ls,     describe_show,  describe_watch, describe_top,                           // look
    describe_revoke, describe_break,                                                         // act
    describe_doctor, describe_bench, describe_demo,  describe_config,  describe_completion,  // care
};

/// `holdfast help [COMMAND]`, as the options that say the same.
std::vector<std::string> asks_for_help(CLI::App& program, const std::vector<std::string>& words) {
  if (words.size() == 1) return {"--help"};
  const bool is_one = !program.get_subcommands([&](const CLI::App* c) { return c->get_name() == words[1]; }).empty();
  return is_one ? std::vector<std::string>{words[1], "--help"} : std::vector<std::string>{words[1]};
}

}  // namespace

reading read_arguments(int argc, const char* const* argv) {
  // What follows "--" is the user's command.
  const char* const* const end = argv + argc;
  const char* const* const first = std::min(argv + 1, end);
  const char* const* const dashes = std::find_if(first, end, [](const char* a) { return std::strcmp(a, "--") == 0; });
  const auto after_dashes = std::make_shared<user_command>();
  if (dashes != end) after_dashes->assign(dashes + 1, end);

  // Both outlive the action that is chosen: completion asks the program about itself.
  const auto described = std::make_shared<CLI::App>("A lock between processes, for the shell.", "holdfast");
  CLI::App& program = *described;
  program.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
  program.set_help_flag("-h,--help", "this text");
  program.require_subcommand(1);
  teach(program, {{"holdfast run backup -- ./backup.sh", "one at a time, the others wait"},
                  {"holdfast run --skip nightly -- ./report.sh", "for cron: one of many does it"},
                  {"holdfast run --store redis://db deploy -- make", "across machines"}});
  program.footer("holdfast COMMAND --help tells more, and so does man holdfast. holdfast --version");
  action chosen;
  for (const describer describe : commands) {
    const action does = describe(program, *after_dashes);
    program.get_subcommands(nullptr).back()->callback([&chosen, does] { chosen = does; });
  }
  std::vector<std::string> arguments(first, dashes);
  if (!arguments.empty() && arguments.front() == "help") arguments = asks_for_help(program, arguments);
  try {
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it wants the last one first
  } catch (const CLI::Success& e) {                                                 // help, or the version
    std::ostringstream text;
    program.exit(e, text, text);
    return {.text = text.str()};
  } catch (const CLI::ParseError& e) {
    return {.code = usage, .text = refusal(program, e, arguments)};
  }
  return {.act = [chosen, after_dashes, described] { return chosen(); }};
}

}  // namespace holdfast::cli

int main(int argc, char** argv) {
  using namespace holdfast::cli;
  occupy_closed_streams();
  return carry_out([&] {
    const reading wanted = read_arguments(argc, argv);
    if (wanted.act) return wanted.act();
    std::fputs(wanted.text.c_str(), wanted.code == fine ? stdout : stderr);
    return wanted.code;
  });
}
