#include <CLI/CLI.hpp>
#include <memory>

#include "config/chosen_store.hpp"
#include "demo/demo.hpp"
#include "help/help.hpp"

namespace holdfast::cli {

action describe_demo(CLI::App& program, const user_command&) {
  struct demo_options {
    std::string store{};
    bool keep = false;
  };
  const auto wanted = std::make_shared<demo_options>();
  CLI::App& command = *program.add_subcommand("demo", "The ticket office: what a lock is for, in under a minute");
  command.group("care");
  examples(command, {{"holdfast demo", "in a directory of its own"},
                     {"holdfast demo --store redis://127.0.0.1", "on a server of yours"},
                     {"holdfast demo --keep", "to look at its locks with holdfast top"}});
  command.footer("Exit codes: 0 every claim held, 1 one did not; 64 usage, 69 store unreachable, 78 configuration.");
  command.add_option("--store", wanted->store, "the store to show it on [a directory of its own]")
      ->check(shared_store)
      ->option_text("STORE");
  command.add_flag("--keep", wanted->keep, "keep the office open until Ctrl-C, to look at its locks meanwhile");
  return [wanted] {
    const std::string url = wanted->store.empty() ? "" : choose_store(wanted->store).url.value;
    return wanted->keep ? keep_demo_open(url) : demo(url);
  };
}

}  // namespace holdfast::cli
