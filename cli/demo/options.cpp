#include <memory>

#include "config/chosen_store.hpp"
#include "demo/demo.hpp"

namespace holdfast::cli {

command_spec describe_demo(const user_command&) {
  struct demo_options {
    std::string store{};
    bool keep = false;
  };
  const auto wanted = std::make_shared<demo_options>();
  return {.name = "demo",
          .group = "care",
          .description = "The ticket office: what a lock is for, in under a minute",
          .examples = {{"holdfast demo", "in a directory of its own"},
                       {"holdfast demo --store redis://127.0.0.1", "on a server of yours"},
                       {"holdfast demo --keep", "to look at its locks with holdfast top"}},
          .options = {{.names = "--store",
                       .value = "STORE",
                       .help = "the store to show it on [a directory of its own]",
                       .into = &wanted->store,
                       .check = shared_store},
                      {.names = "--keep",
                       .help = "keep the office open until Ctrl-C, to look at its locks meanwhile",
                       .into = &wanted->keep}},
          .footer = "Exit codes: 0 every claim held, 1 one did not; 64 usage, 69 store unreachable, 78 configuration.",
          .act = [wanted] {
            const std::string url = wanted->store.empty() ? "" : choose_store(wanted->store).url.value;
            return wanted->keep ? keep_demo_open(url) : demo(url);
          }};
}

}  // namespace holdfast::cli
