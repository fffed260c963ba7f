#include "config/show.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "config/config.hpp"
#include "exit_code.hpp"
#include "holding/options.hpp"
#include "options/store_option.hpp"
#include "text/json.hpp"

namespace holdfast::cli {

namespace {

struct config_options {
  store_option store{};
  bool json = false;
};

/// All of it, fit to be shown.
struct in_force {
  struct row {
    std::string what{};
    located setting{};
  };
  std::vector<row> settings{};
  std::vector<row> stores{};
  struct file {
    std::string path{};
    bool read = false;
  };
  std::vector<file> files{};
};

in_force collect(const chosen_store& chosen, const config& all) {
  const auto built_in_ttl = std::chrono::duration_cast<std::chrono::seconds>(hold_options{}.ttl);
  in_force now;
  const bool named = chosen.given.value != chosen.url.value;
  if (named) now.settings.push_back({"store", chosen.given});
  now.settings.push_back({"url", {shown_url(chosen.url.value), chosen.url.from}});
  now.settings.push_back(
      {"ttl", chosen.ttl ? chosen.ttl_as_written : located{std::to_string(built_in_ttl.count()) + "s", "built in"}});
  for (const named_store& store : all.stores()) {
    now.stores.push_back({store.name, {shown_url(store.url.value), store.url.from}});
  }
  for (std::string& path : config_paths()) {
    const bool read =
        std::any_of(all.files().begin(), all.files().end(), [&](const auto& f) { return f.path == path; });
    now.files.push_back({std::move(path), read});
  }
  return now;
}

void print_json(const in_force& now) {
  using object = json_value::object;
  json_value all;
  json_value::array stores, files;
  for (const auto& [what, setting] : now.settings) all[what] = object{{"value", setting.value}, {"from", setting.from}};
  for (const auto& [name, url] : now.stores)
    stores.emplace_back(object{{"name", name}, {"url", url.value}, {"from", url.from}});
  for (const auto& [path, read] : now.files) files.emplace_back(object{{"path", path}, {"read", read}});
  all["stores"] = std::move(stores);
  all["files"] = std::move(files);
  std::puts(all.dump(json_value::charset::ascii).c_str());
}

void print_text(const in_force& now) {
  std::size_t name = 0, value = 0;
  for (const auto* const rows : {&now.settings, &now.stores}) {
    for (const auto& [what, setting] : *rows) {
      name = std::max(name, what.size());
      value = std::max(value, setting.value.size());
    }
  }
  const auto print = [&](const std::vector<in_force::row>& rows) {
    for (const auto& [what, setting] : rows) {
      std::printf("%-*s  %-*s  %s\n", static_cast<int>(name), what.c_str(), static_cast<int>(value),
                  setting.value.c_str(), setting.from.c_str());
    }
  };
  print(now.settings);
  if (!now.stores.empty()) std::puts("\nstores");
  print(now.stores);
  if (!now.files.empty()) std::puts("\nfiles");
  for (const auto& [path, read] : now.files) std::printf("%s: %s\n", path.c_str(), read ? "read" : "not there");
}

int show_config(const config_options& o) {
  const config all = config::read();
  const in_force now = collect(o.store.chosen(true), all);
  for (const named_store& store : all.stores()) {
    if (const std::string warning = warning_of(store); !warning.empty()) {
      std::fprintf(stderr, "holdfast: %s\n", warning.c_str());
    }
  }
  o.json ? print_json(now) : print_text(now);
  return fine;
}

}  // namespace

command_spec describe_config(const user_command&) {
  const auto wanted = std::make_shared<config_options>();
  return {.name = "config",
          .group = "care",
          .description = "Show which store is meant, and who said so",
          .examples = {{"holdfast config", "which store is meant, and which file or variable says so"},
                       {"holdfast config --store prod --json", "the same of another store, for programs"}},
          .options = {wanted->store.row(), {.names = "--json", .help = "one JSON object", .into = &wanted->json}},
          .footer = "Exit codes: 0; 64 usage, 78 the configuration is wrong.",
          .act = [wanted] { return show_config(*wanted); }};
}

}  // namespace holdfast::cli
