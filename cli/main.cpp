#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <holdfast/holdfast.hpp>
#include <vector>

#include "demo/demo.hpp"
#include "exit_code.hpp"
#include "run.hpp"

namespace holdfast::cli {
namespace {

/// A program that is started with a standard stream closed would get its next file there. The command shall find it
/// closed, as it was.
void occupy_closed_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

/// Says what is wrong with the arguments, and what would be right.
int refuse(const CLI::App& program, const CLI::ParseError& e, const std::string& first) {
  const bool command_known = !program.get_subcommands().empty();
  std::string cure = "see holdfast --help";
  if (command_known) cure = "see holdfast " + program.get_subcommands().front()->get_name() + " --help";
  std::string what = e.what();
  if (!command_known) {
    what = first.empty() ? "no command is given" : "'" + first + "' is no command";
    cure = "say holdfast run or holdfast demo; options come after that; " + cure;
  } else if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr && program.got_subcommand("demo")) {
    what = "more is given than the demo takes";  // not quoted: a URL may have a password
    cure = "say: holdfast demo --store URL; " + cure;
  } else if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) {
    what = "more than one name, or an unknown option, or no -- before the command";
    cure = "say: holdfast run [options] NAME -- CMD [ARG...]; " + cure;
  }
  std::fprintf(stderr, "holdfast: %s; %s\n", what.c_str(), cure.c_str());
  return usage;
}

int act(int argc, char** argv) {
  // What follows "--" is the command's, and no business of ours.
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* a) { return std::strcmp(a, "--") == 0; });

  CLI::App program("A lock between processes, for the shell.", "holdfast");
  program.set_version_flag("--version", "holdfast " HOLDFAST_VERSION);
  program.require_subcommand(1);
  run_options wanted;
  describe_run(program, wanted);
  std::string stage;
  CLI::App& show = *program.add_subcommand("demo", "The ticket office: what a lock is for, in under a minute");
  show.add_option("--store", stage, "the store to show it on [a directory of its own]")
      ->check(shared_store)
      ->option_text("URL");
  try {
    program.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::CallForHelp& e) {
    return program.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return program.exit(e);
  } catch (const CLI::ParseError& e) {
    return refuse(program, e, argc > 1 ? argv[1] : "");
  }
  if (program.got_subcommand("demo")) return demo(stage);
  if (dashes != end) wanted.command.assign(dashes + 1, end);
  if (wanted.command.empty()) {
    std::fputs("holdfast: no command is given; say: holdfast run NAME -- CMD [ARG...]\n", stderr);
    return usage;
  }
  return run(wanted);
}

}  // namespace
}  // namespace holdfast::cli

int main(int argc, char** argv) {
  using namespace holdfast::cli;
  occupy_closed_streams();
  try {
    return act(argc, argv);
  } catch (const holdfast::lock_error& e) {
    std::fprintf(stderr, "holdfast: %s\n", e.what());
    return code_of(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "holdfast: %s\n", e.what());
    return internal;
  }
}
