#include "config/chosen_store.hpp"

#include <cstdlib>

#include "config/config.hpp"
#include "config/error.hpp"

namespace holdfast::cli {

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
  if (name_or_url.empty()) return "the store is empty; give a URL, such as dir:/PATH, or a name of a store";
  return name_or_url.rfind("memory:", 0) == 0
             ? "memory: is inside one process; give a store that processes share, dir:/PATH"
             : "";
}

std::string warning_of(const named_store& store) {
  if (!store.password_is_readable) return "";
  return store.url.from + ": others may read the password of '" + store.name +
         "'; say: chmod go-r, or put it into a file of its own, and say password_file";
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

}  // namespace holdfast::cli
