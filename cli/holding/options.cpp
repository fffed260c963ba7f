#include "holding/options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "options/values.hpp"

namespace holdfast::cli {

namespace {

/// "K/N"; "N" alone is one of N.
hold_options::share share_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = [&](const std::string& part, unsigned& into) {
    const auto [end, why] = std::from_chars(part.data(), part.data() + part.size(), into);
    return why == std::errc() && end == part.data() + part.size() && into > 0;
  };
  hold_options::share s{1, 0};
  const bool fine = slash == std::string::npos
                        ? number(text, s.all)
                        : number(text.substr(0, slash), s.taken) && number(text.substr(slash + 1), s.all);
  if (!fine || s.taken > s.all) {
    throw CLI::ValidationError("'" + text + "' is no number of permits; say 2/10 for two of ten, or 10 for one of ten");
  }
  return s;
}

}  // namespace

void hold_options::add_wanted_to(CLI::App& command) {
  command.add_option("NAME", names, "what to hold; several: all of them or none")->required();
  store.add_to(command);
  CLI::Option* const reader = command.add_flag("-s,--shared", shared, "as a reader, beside other readers");
  CLI::Option* const whole = command.add_flag_callback(
      "-x,--exclusive", [this] { shared = false; }, "beside nobody; so it is without -s, too");
  whole->excludes(reader);
  command
      .add_option_function<std::string>(
          "--permits", [this](const std::string& text) { permits = share_of(text); },
          "K permits of a semaphore that has N of them")
      ->excludes(reader)
      ->excludes(whole)
      ->option_text("K/N");
}

void hold_options::add_manner_to(CLI::App& command) {
  CLI::Option* const lasting = add_duration(command, "--ttl", ttl, "how long the store keeps us unrenewed [10s]");
  command.add_option("--label", label, "what others are told who holds it [host, process id and program]")
      ->option_text("TEXT");
  add_descriptor(command, "--status-fd", status_fd, "write what happens there, one JSON object a line");
  CLI::Option* const silent = command.add_flag("-q,--quiet", quiet, "say nothing, not even what went wrong");
  command.add_flag("-v,--verbose", verbose, "say who holds it, and what happens")->excludes(silent);
  command.parse_complete_callback([this, lasting] {
    try {
      const auto of_the_store = store.chosen(quiet).ttl;
      if (lasting->count() == 0 && of_the_store) ttl = *of_the_store;
    } catch (const lock_error&) {  // it is told when the store is opened
    }
  });
}

void hold_options::add_to(CLI::App& command) {
  add_wanted_to(command);
  CLI::Option* const nonblock = command.add_flag_callback(
      "-n,--nonblock", [this] { wait = std::chrono::milliseconds(0); }, "do not wait for another holder");
  add_duration(command, "-w,--timeout", wait, "wait for so long at most")->excludes(nonblock);
  command.add_option("-E,--conflict-exit-code", busy_code, "the exit code when it is not to be had [75]")
      ->check(CLI::Range(0, 255))
      ->option_text("N");
  add_manner_to(command);
}

void hold_options::add_skip_to(CLI::App& command) {
  command
      .add_flag_callback(
          "--skip",
          [this] {
            skip = true;
            if (!wait) wait = std::chrono::milliseconds(0);  // whoever waits for ever has nothing to skip
          },
          "not to be had at once, or within -w: that is fine; say nothing and exit 0 (for cron)")
      ->excludes(command.get_option("--conflict-exit-code"));
}

std::string hold_options::contradiction() const {
  if (!permits || names.size() < 2) return "";
  return "--permits are those of one semaphore, and several names are given; give one, or nest the runs";
}

bool hold_options::max_hold_ends(boot_clock::time_point held_since, boot_clock::time_point at) const {
  const auto early = std::min(ttl, max_hold) / 10 + std::chrono::milliseconds(100);
  return max_hold.count() > 0 && at >= held_since + max_hold - early;
}

std::string hold_options::what() const {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

std::string hold_options::label_for(const std::string& program) const {
  if (label) return *label;
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string base = program.substr(program.rfind('/') + 1);
  std::string text = std::string(host) + " pid " + std::to_string(::getpid()) + ": " + base;
  if (text.size() > 200) text = text.substr(0, 197) + "...";
  return text;
}

}  // namespace holdfast::cli
