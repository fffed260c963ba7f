#include "options/values.hpp"

#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "text/duration.hpp"

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;

milliseconds duration_of(const std::string& text) {
  const auto parsed = parse_duration(text);
  if (!parsed) throw CLI::ValidationError("'" + text + "' is no duration; say 250ms, 10s, 5m, 2h or 1d");
  return *parsed;
}

template <class Into>
CLI::Option* add(CLI::App& command, const std::string& option, Into& into, const std::string& help) {
  return command
      .add_option_function<std::string>(
          option, [&into](const std::string& text) { into = duration_of(text); }, help)
      ->option_text("D");
}

std::string open_descriptor(const std::string& text) {
  int fd = -1;
  const bool number = CLI::detail::lexical_cast(text, fd);
  return number && fd >= 0 && ::fcntl(fd, F_GETFD) >= 0 ? "" : "'" + text + "' is no open file descriptor";
}

}  // namespace

CLI::Option* add_duration(CLI::App& command, const std::string& option, milliseconds& into, const std::string& help) {
  return add(command, option, into, help);
}

CLI::Option* add_duration(CLI::App& command, const std::string& option, std::optional<milliseconds>& into,
                          const std::string& help) {
  return add(command, option, into, help);
}

CLI::Option* add_descriptor(CLI::App& command, const std::string& option, int& into, const std::string& help) {
  return command.add_option(option, into, help)->check(open_descriptor)->option_text("N");
}

CLI::Option* add_fence(CLI::App& command, const std::string& option, std::uint64_t& into, const std::string& help) {
  const auto parse = [&into](const std::string& text) {  // CLI11 itself takes -1 for a very high one
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), into);
    const bool number = why == std::errc() && end == text.data() + text.size() && into > 0;
    if (!number) throw CLI::ValidationError("'" + text + "' is no fence; holdfast show tells it");
  };
  return command.add_option_function<std::string>(option, parse, help)->option_text("N");
}

}  // namespace holdfast::cli
