#include "completion/candidates.hpp"

#include <algorithm>
#include <holdfast/store.hpp>

#include "completion/lock_names.hpp"
#include "config/config.hpp"
#include "config/error.hpp"

namespace holdfast::cli {

namespace {

using words_so_far = std::vector<std::string>;

std::vector<candidate> shown_commands(const program_spec& program) {
  std::vector<candidate> all;
  for (const command_spec& c : program.commands) {
    if (!c.group.empty()) all.push_back({c.name, c.description});
  }
  return all;
}

std::vector<candidate> option_names(const option_rows& options) {
  std::vector<candidate> all;
  for (const option_spec& o : options) {
    for (const char* const prefix : {"--", "-"}) {
      for (const std::string& name : o.names_with(prefix)) all.push_back({name, o.help});
    }
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

/// The option whose value follows this word; null if none does.
const option_spec* asks_for_value(const command_spec& command, const std::string& word) {
  for (const option_spec& o : command.options) {
    for (const char* const prefix : {"-", "--"}) {
      const std::vector<std::string> names = o.names_with(prefix);
      if (o.takes_value() && std::ranges::find(names, word) != names.end()) return &o;
    }
  }
  return nullptr;
}

std::vector<candidate> values(const option_spec& o) { return o.value == "STORE" ? stores() : std::vector<candidate>{}; }

/// What --store says in the words so far; empty: nothing.
std::string store_of(const words_so_far& words) {
  const std::string option = "--store";
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == option) return words[i + 1];
    if (words[i].starts_with(option + "=")) return words[i].substr(option.size() + 1);
  }
  return "";
}

bool takes_names(const command_spec& command) {
  return std::ranges::any_of(command.options,
                             [](const option_spec& o) { return o.names == "NAME" || o.names == "PREFIX"; });
}

std::vector<candidate> all_that_fit(const program_spec& program, const words_so_far& words) {
  if (words.size() == 1) {
    return words.front().starts_with('-') ? option_names(program.options) : shown_commands(program);
  }
  const command_spec* const command = program.find(words.front());
  // Behind "--" is a command of the user's: the shell knows better.
  if (command == nullptr || std::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return {};
  const std::string& last = words.back();
  if (const option_spec* const o = asks_for_value(*command, words[words.size() - 2])) return values(*o);
  if (const std::size_t equals = last.find('='); last.starts_with("--") && equals != std::string::npos) {
    const option_spec* const o = asks_for_value(*command, last.substr(0, equals));
    std::vector<candidate> all = o == nullptr ? std::vector<candidate>{} : values(*o);
    for (candidate& each : all) each.word.insert(0, last, 0, equals + 1);
    return all;
  }
  if (last.starts_with('-')) return option_names(command->options);
  return takes_names(*command) ? lock_names(store_of(words), last) : std::vector<candidate>{};
}

}  // namespace

std::vector<candidate> candidates(const program_spec& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::vector<candidate> all = all_that_fit(program, words);
  std::erase_if(all, [&](const candidate& each) { return !each.word.starts_with(words.back()); });
  return all;
}

}  // namespace holdfast::cli
