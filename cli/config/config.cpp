#include "config/config.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "config/file.hpp"
#include "exit_code.hpp"
#include "hold/options.hpp"
#include "options/values.hpp"
#include "text/json.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

/// Relative paths are ignored, as the XDG specification requires.
std::string users_folder() {
  const auto whole_path = [](const char* variable) {
    const char* const text = std::getenv(variable);
    return text != nullptr && *text == '/' ? std::string(text) : "";
  };
  if (std::string folder = whole_path("XDG_CONFIG_HOME"); !folder.empty()) return folder;
  const std::string home = whole_path("HOME");
  return home.empty() ? "" : home + "/.config";
}

}  // namespace

std::vector<std::string> config_paths() {
  if (const char* const only = std::getenv("HOLDFAST_CONFIG")) {
    return *only == '\0' ? std::vector<std::string>{} : std::vector<std::string>{only};
  }
  std::vector<std::string> paths;
  if (const std::string folder = users_folder(); !folder.empty()) paths.push_back(folder + "/holdfast/config.toml");
  paths.emplace_back("/etc/holdfast.toml");
  return paths;
}

config config::read() {
  config all;
  for (const std::string& path : config_paths()) {
    std::optional<config_file> file = read_config_file(path);
    if (file) {
      all.files_.push_back(std::move(*file));
    } else if (std::getenv("HOLDFAST_CONFIG") != nullptr) {
      throw config_error("HOLDFAST_CONFIG names " + path + ", which does not exist; create it, or unset the variable");
    }
  }
  return all;
}

std::optional<located> config::default_store() const {
  for (const config_file& file : files_) {
    if (file.default_store) return file.default_store;
  }
  return std::nullopt;
}

std::vector<named_store> config::stores() const {
  std::vector<named_store> all;
  for (const config_file& file : files_) {
    for (const named_store& store : file.stores) {
      const bool stronger_one =
          std::any_of(all.begin(), all.end(), [&](const named_store& s) { return s.name == store.name; });
      if (!stronger_one) all.push_back(store);
    }
  }
  return all;
}

named_store config::find(const std::string& name, const std::string& from) const {
  std::vector<std::string> names;
  for (named_store& store : stores()) {
    if (store.name == name) return std::move(store);
    names.push_back(store.name);
  }
  // A text with @ may be a URL without its scheme, including the password.
  const std::string said = name.find('@') == std::string::npos ? "'" + name + "'" : "that";
  const std::string what = from + ": there is no store " + said;
  if (names.empty()) {
    const std::string looked = listed(config_paths());
    throw config_error(what + (looked.empty() ? "" : ", and no stores are defined in " + looked) +
                       "; give a URL, such as dir:/PATH or redis://HOST");
  }
  throw config_error(what + did_you_mean_or_list(name, names) + "; or give a URL, such as dir:/PATH");
}

namespace {

bool is_url(const std::string& name_or_url) { return name_or_url.find(':') != std::string::npos; }

located wanted(const std::string& by_option) {
  if (!by_option.empty()) return {by_option, "--store"};
  const char* const variable = std::getenv("HOLDFAST_STORE");
  if (variable != nullptr && *variable != '\0') return {variable, "HOLDFAST_STORE"};
  return {"", "built in"};
}

void check_url(const located& url) {
  const std::string wrong = shared_store(url.value);
  if (!wrong.empty()) throw config_error(url.from + ": " + wrong);
}

}  // namespace

std::string shared_store(const std::string& name_or_url) {
  if (name_or_url.empty()) return "the store is empty; give a URL, such as dir:/PATH, or the name of a store";
  return name_or_url.rfind("memory:", 0) == 0
             ? "memory: exists inside one process only; use a store that processes share, such as dir:/PATH"
             : "";
}

std::string warning_of(const named_store& store) {
  if (!store.password_is_readable) return "";
  return store.url.from + ": other users can read the password of '" + store.name +
         "'; run chmod go-r, or move it to a file of its own and set password_file";
}

chosen_store choose_store(const std::string& by_option) {
  chosen_store chosen{.given = wanted(by_option)};
  if (is_url(chosen.given.value)) {
    chosen.url = chosen.given;
    check_url(chosen.url);
    return chosen;
  }
  const config all = config::read();
  if (chosen.given.value.empty()) chosen.given = all.default_store().value_or(chosen.given);
  chosen.url = chosen.given;
  if (chosen.given.value.empty()) return chosen;
  if (!is_url(chosen.given.value)) {
    const named_store store = all.find(chosen.given.value, chosen.given.from);
    chosen.url = store.url;
    chosen.ttl = store.ttl;
    chosen.ttl_as_written = store.ttl_as_written;
    chosen.warning = warning_of(store);
  }
  check_url(chosen.url);
  return chosen;
}

namespace {

struct config_options {
  store_option store{};
  bool json = false;
};

/// The configuration as shown to the user, without passwords.
struct effective_config {
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

effective_config collect(const chosen_store& chosen, const config& all) {
  const auto built_in_ttl = std::chrono::duration_cast<std::chrono::seconds>(hold_options{}.ttl);
  effective_config now;
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

void print_json(const effective_config& now) {
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

void print_text(const effective_config& now) {
  std::size_t name = 0, value = 0;
  for (const auto* const rows : {&now.settings, &now.stores}) {
    for (const auto& [what, setting] : *rows) {
      name = std::max(name, what.size());
      value = std::max(value, setting.value.size());
    }
  }
  const auto print = [&](const std::vector<effective_config::row>& rows) {
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
  const effective_config now = collect(o.store.chosen(true), all);
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
          .description = "Show the configuration, and where each value comes from",
          .examples = {{"holdfast config", "the current store, and which file or variable sets it"},
                       {"holdfast config --store prod --json", "the same for another store, as JSON"}},
          .options = {wanted->store.row(), {.names = "--json", .help = "one JSON object", .into = &wanted->json}},
          .footer = "Exit codes: 0; 64 usage, 78 the configuration is wrong.",
          .act = [wanted] { return show_config(*wanted); }};
}

}  // namespace holdfast::cli
