#include "doctor/doctor.hpp"

#include <algorithm>
#include <cstdio>
#include <holdfast/store.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"
#include "options/values.hpp"
#include "text/state.hpp"
#include "text/table.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

struct doctor_options {
  store_option store{};
  bool json = false;
  bool quiet = false;    ///< only set the exit code
  bool verbose = false;  ///< also print passed checks
};

/// The report about a store.
struct report {
  std::string url;  ///< without passwords
  guarantees promises;
  const std::vector<finding>& findings;

  /// Sorted by severity. Passed checks are only counted unless `with_fine`.
  [[nodiscard]] std::string as_text(const style&, bool with_fine) const;
  /// Returns one line.
  [[nodiscard]] std::string as_json() const;
};

using severity = finding::severity;

std::string_view name_of(severity level) {
  switch (level) {
    case severity::fine: return "fine";
    case severity::note: return "note";
    case severity::warning: return "warning";
    case severity::danger: return "danger";
  }
  return "";
}

std::string coloured(severity level, const style& in) {
  const std::string_view name = name_of(level);
  switch (level) {
    case severity::fine: return in.green(name);
    case severity::note: return in.bold(name);
    case severity::warning: return in.yellow(name);
    case severity::danger: return in.red(name);
  }
  return std::string(name);
}

/// Uses the words of docs/safety.md.
std::string in_words(const guarantees& p) {
  std::string text = p.by == guarantees::exclusion::kernel
                         ? "  exclusion    by the kernel, for as long as the holder's process lives\n"
                         : "  exclusion    by lease: while clocks run at about the same rate, and the store keeps its "
                           "state\n";
  text += p.fair ? "  order        first come, first served\n" : "  order        none\n";
  text += p.notices_death_at_once ? "  dead holder  noticed at once\n" : "  dead holder  noticed after its ttl\n";
  text += p.survives_restart ? "  restart      locks and fences survive it\n"
                             : "  restart      may forget locks; fences tell old holders from new ones\n";
  return text;
}

std::string one(const finding& f, const style& colours) {
  std::string text = "\n" + coloured(f.level, colours) + "  " + f.id + "\n  " + printable(f.what) + "\n";
  if (!f.why.empty()) text += "  why:  " + printable(f.why) + "\n";
  if (!f.cure.empty()) text += "  cure: " + printable(f.cure) + "\n";
  return text;
}

std::string report::as_text(const style& colours, bool with_fine) const {
  std::string text = url + "\n" + in_words(promises);
  std::size_t fine = 0;
  for (const severity level : {severity::danger, severity::warning, severity::note, severity::fine}) {
    for (const finding& each : findings) {
      if (each.level != level) continue;
      if (level == severity::fine) ++fine;
      if (level != severity::fine || with_fine) text += one(each, colours);
    }
  }
  text += "\n" + std::to_string(fine) + (fine == 1 ? " check is fine" : " checks are fine");
  return text + (with_fine || fine == 0 ? "\n" : " (-v shows them)\n");
}

std::string report::as_json() const {
  json_value all;
  all["store"] = url;
  all["promises"] = to_json(promises);
  all["findings"] = json_value::array();
  for (const finding& each : findings) {
    all["findings"].push_back(json_value::object{
        {"level", name_of(each.level)}, {"id", each.id}, {"what", each.what}, {"why", each.why}, {"cure", each.cure}});
  }
  return all.dump(json_value::charset::utf8) + "\n";
}

int exit_code_of(const std::vector<finding>& all) {
  const auto worst = std::ranges::max_element(all, {}, &finding::level);
  if (worst == all.end() || worst->level < finding::severity::warning) return fine;
  return worst->level == finding::severity::warning ? 1 : 2;
}

/// Examines the store and prints the findings. Returns 1 if there is a warning, 2 if there is a danger, otherwise 0.
/// Throws lock_error.
int doctor(const doctor_options& wanted) {
  const store examined = wanted.store.open({}, wanted.quiet);
  const std::vector<finding> found = examined.examine();
  if (!wanted.quiet) {
    const report is{examined.url(), examined.promises(), found};
    const std::string text = wanted.json ? is.as_json() : is.as_text(style(stdout), wanted.verbose);
    std::fputs(text.c_str(), stdout);
  }
  return exit_code_of(found);
}

}  // namespace

command_spec describe_doctor(const user_command&) {
  const auto wanted = std::make_shared<doctor_options>();
  return {.name = "doctor",
          .group = "care",
          .description = "Find what is unsafe about a store, and how to fix it",
          .examples = {{"holdfast doctor", "the current store"},
                       {"holdfast doctor -q || echo look at it", "for a monitor"}},
          .options = {wanted->store.row(),
                      {.names = "--json", .help = "one JSON object", .into = &wanted->json},
                      {.names = "-q,--quiet",
                       .help = "print nothing; the exit code says 0 fine, 1 a warning, 2 danger",
                       .into = &wanted->quiet},
                      {.names = "-v,--verbose", .help = "also print what is fine", .into = &wanted->verbose}},
          .footer = "Exit codes: 0 fine, 1 a warning, 2 danger; 64, 69, 70, 77, 78 the store could not be examined.",
          .act = [wanted] { return run_action([&] { return doctor(*wanted); }, wanted->quiet); }};
}

}  // namespace holdfast::cli
