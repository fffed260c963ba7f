#include "options/values.hpp"

#include <fcntl.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

namespace holdfast::cli {

std::string open_descriptor(const std::string& text) {
  char* end = nullptr;
  const long long fd = std::strtoll(text.c_str(), &end, 0);  // like CLI11's numbers
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  const bool is_open =
      is_number && fd >= 0 && fd <= std::numeric_limits<int>::max() && ::fcntl(static_cast<int>(fd), F_GETFD) >= 0;
  return is_open ? "" : "'" + text + "' is not an open file descriptor";
}

value_reader fence_reader(std::uint64_t& into) {
  return [&into](const std::string& text) -> std::string {
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), into);
    const bool is_fence = why == std::errc() && end == text.data() + text.size() && into > 0;
    return is_fence ? "" : "'" + text + "' is not a fence; holdfast show prints it";
  };
}

option_rows name_argument::name_rows(const std::string& help) {
  return word_rows({.names = "NAME", .help = help, .required = true, .single = true}, words_);
}

option_rows name_argument::prefix_rows() {
  return word_rows({.names = "PREFIX", .help = "only names with this prefix", .single = true}, words_);
}

option_spec store_option::row() {
  return {.names = "--store",
          .value = "STORE",
          .help = "URL or configured name [$HOLDFAST_STORE, the configured default, or a directory of this user]",
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
