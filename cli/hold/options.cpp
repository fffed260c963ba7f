#include "hold/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "options/values.hpp"

namespace holdfast::cli {

namespace {

/// Reads "K/N", or "N" for one of N.
value_reader share_reader(std::optional<hold_options::share>& into) {
  return [&into](const std::string& text) -> std::string {
    const std::size_t slash = text.find('/');
    const auto number = [&](const std::string& part, unsigned& n) {
      const auto [end, why] = std::from_chars(part.data(), part.data() + part.size(), n);
      return why == std::errc() && end == part.data() + part.size() && n > 0;
    };
    hold_options::share s{1, 0};
    const bool fine = slash == std::string::npos
                          ? number(text, s.all)
                          : number(text.substr(0, slash), s.taken) && number(text.substr(slash + 1), s.all);
    if (!fine || s.taken > s.all) {
      return "'" + text + "' is not a number of permits; use 2/10 for two of ten, or 10 for one of ten";
    }
    into = s;
    return "";
  };
}

}  // namespace

option_rows hold_options::target_rows() {
  const option_spec name{
      .names = "NAME", .help = "the lock; with several names, all of them or none", .required = true};
  return joined({word_rows(name, names),
                 {store.row(),
                  {.names = "-s,--shared", .help = "acquire as a reader, together with other readers", .into = &shared},
                  {.names = "-x,--exclusive",
                   .help = "acquire exclusively (the default)",
                   .into = [this] { shared = false; },
                   .excludes = {"--shared"}},
                  {.names = "--permits",
                   .value = "K/N",
                   .help = "acquire K permits of a semaphore that has N",
                   .into = share_reader(permits),
                   .excludes = {"--shared", "--exclusive"}}}});
}

option_rows hold_options::lease_rows() {
  return {
      {.names = "--ttl", .value = "D", .help = "how long a crashed holder blocks others [10s]", .into = &given_ttl_},
      {.names = "--label",
       .value = "TEXT",
       .help = "how other clients see the holder [host, process id and program]",
       .into = &label},
      {.names = "--status-fd",
       .value = "N",
       .help = "write events to this descriptor, one JSON object per line",
       .into = &status_fd,
       .check = open_descriptor},
      {.names = "-q,--quiet", .help = "print nothing, not even errors", .into = &quiet},
      {.names = "-v,--verbose",
       .help = "print who holds it and what happens",
       .into = &verbose,
       .excludes = {"--quiet"}}};
}

option_rows hold_options::rows() {
  return joined({target_rows(),
                 {{.names = "-n,--nonblock",
                   .help = "give up at once if the lock is held",
                   .into = [this] { wait = std::chrono::milliseconds(0); }},
                  {.names = "-w,--timeout",
                   .value = "D",
                   .help = "give up after this time",
                   .into = &wait,
                   .excludes = {"--nonblock"}},
                  {.names = "-E,--conflict-exit-code",
                   .value = "N",
                   .help = "the exit code if the lock is busy [75]",
                   .into = &busy_code,
                   .range = {{0, 255}}}},
                 lease_rows()});
}

option_spec hold_options::skip_row() {
  return {.names = "--skip",
          .help = "exit 0 silently if the lock is busy, or still busy after -w (for cron)",
          .into =
              [this] {
                skip = true;
                if (!wait) wait = std::chrono::milliseconds(0);  // without a limit there would be nothing to skip
              },
          .excludes = {"--conflict-exit-code"}};
}

void hold_options::resolve_ttl() {
  if (given_ttl_) ttl = *given_ttl_;
  try {
    const auto of_the_store = store.chosen(quiet).ttl;
    if (!given_ttl_ && of_the_store) ttl = *of_the_store;
  } catch (const lock_error&) {  // reported when the store is opened
  }
}

std::string hold_options::contradiction() const {
  if (!permits || names.size() < 2) return "";
  return "--permits needs a single NAME; give one, or nest the runs";
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
