#include "options/store_option.hpp"

#include <cstdio>
#include <utility>

namespace holdfast::cli {

option_spec store_option::row() {
  return {.names = "--store",
          .value = "STORE",
          .help =
              "a URL, or a name of the configuration; else $HOLDFAST_STORE, the default of the configuration, or a "
              "directory of this user",
          .into = &given_,
          .check = shared_store};
}

const chosen_store& store_option::chosen(bool quiet) const {
  if (!chosen_) {
    chosen_ = choose_store(given_);
    if (!quiet && !chosen_->warning.empty()) std::fprintf(stderr, "holdfast: %s\n", chosen_->warning.c_str());
  }
  return *chosen_;
}

store store_option::open(std::shared_ptr<observer> observe, bool quiet) const {
  return holdfast::open(chosen(quiet).url.value, {.observe = std::move(observe)});
}

std::optional<std::string> store_option::url_for_others() const {
  const std::string shown = shown_url(url());
  const bool hides_something = shown != url() && url().find('@') != std::string::npos;
  return hides_something ? std::nullopt : std::optional(shown);
}

}  // namespace holdfast::cli
