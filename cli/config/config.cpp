#include "config/config.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "config/error.hpp"
#include "text/nearest.hpp"

namespace holdfast::cli {

namespace {

/// Only the whole path of a folder will do, as XDG wants it: another would be a folder of wherever we are.
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
      throw config_error("HOLDFAST_CONFIG names " + path + ", which is not there; make it, or unset the variable");
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
  // What has an @ may be a URL whose scheme was forgotten, with its password.
  const std::string said = name.find('@') == std::string::npos ? "'" + name + "'" : "that";
  const std::string what = from + ": there is no store " + said;
  if (names.empty()) {
    const std::string looked = listed(config_paths());
    throw config_error(what + (looked.empty() ? "" : ", and none at all in " + looked) +
                       "; give a URL, such as dir:/PATH or redis://HOST");
  }
  throw config_error(what + instead_of(name, names) + "; or give a URL, such as dir:/PATH");
}

}  // namespace holdfast::cli
