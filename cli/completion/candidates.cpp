#include "completion/candidates.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <holdfast/store.hpp>

#include "completion/lock_names.hpp"
#include "config/config.hpp"
#include "config/error.hpp"

namespace holdfast::cli {

namespace {

/// nullptr: there is none of that name.
const CLI::App* command_named(const CLI::App& program, const std::string& name) {
  const auto found = program.get_subcommands([&](const CLI::App* c) { return c->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

using words_so_far = std::vector<std::string>;

std::vector<candidate> commands(const CLI::App& program) {
  std::vector<candidate> all;
  for (const CLI::App* const c : program.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    all.push_back({c->get_name(), c->get_description()});
  }
  return all;
}

std::vector<candidate> options(const CLI::App& command) {
  std::vector<candidate> all;
  for (const CLI::Option* const o : command.get_options({})) {
    for (const std::string& name : o->get_lnames()) all.push_back({"--" + name, o->get_description()});
    for (const std::string& name : o->get_snames()) all.push_back({"-" + name, o->get_description()});
  }
  return all;
}

std::vector<candidate> stores() {
  std::vector<candidate> all;
  try {
    for (const named_store& store : config::read().stores()) all.push_back({store.name, shown_url(store.url.value)});
  } catch (const config_error&) {  // whoever uses it will be told
  }
  for (const char* const scheme :
       {"dir:/", "redis://", "rediss://", "redis+unix:///", "redis+sentinel://", "redis+cluster://", "redlock://"})
    all.push_back({scheme, ""});
  return all;
}

/// The option whose value stands behind this word; nullptr: none does.
const CLI::Option* asks_for_value(const CLI::App& command, const std::string& word) {
  const CLI::Option* const o = word.starts_with('-') ? command.get_option_no_throw(word) : nullptr;
  return o != nullptr && o->get_items_expected_max() > 0 ? o : nullptr;
}

std::vector<candidate> values(const CLI::Option& o) {
  return o.get_option_text() == "STORE" ? stores() : std::vector<candidate>{};
}

/// What --store says in the words so far; empty: nothing.
std::string store_of(const words_so_far& words) {
  const std::string option = "--store";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return "";
}

bool takes_names(const CLI::App& command) {
  return command.get_option_no_throw("NAME") != nullptr || command.get_option_no_throw("PREFIX") != nullptr;
}

std::vector<candidate> all_that_fit(const CLI::App& program, const words_so_far& words) {
  if (words.size() == 1) return words.front().starts_with('-') ? options(program) : commands(program);
  const CLI::App* const command = command_named(program, words.front());
  // Behind "--" is a command of the user's: the shell knows better.
  if (command == nullptr || std::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return {};
  const std::string& last = words.back();
  if (const CLI::Option* const o = asks_for_value(*command, words[words.size() - 2])) return values(*o);
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* const o = asks_for_value(*command, last.substr(0, equals));
    std::vector<candidate> all = o == nullptr ? std::vector<candidate>{} : values(*o);
    for (candidate& each : all) each.word.insert(0, last, 0, equals + 1);
    return all;
  }
  if (last.starts_with('-')) return options(*command);
  const bool can_list = command_named(program, "ls") != nullptr;
  return can_list && takes_names(*command) ? lock_names(store_of(words), last) : std::vector<candidate>{};
}

}  // namespace

std::vector<candidate> candidates(const CLI::App& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::vector<candidate> all = all_that_fit(program, words);
  std::erase_if(all, [&](const candidate& each) { return !each.word.starts_with(words.back()); });
  return all;
}

}  // namespace holdfast::cli
