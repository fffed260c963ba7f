#include "chaos/event.hpp"

#include <iterator>
#include <ostream>
#include <sstream>

namespace holdfast::chaos {

namespace {

constexpr std::string_view names[] = {"next",   "calls",  "granted",  "busy",     "failed", "believes", "doubts",
                                      "told",   "untold", "releases", "released", "reads",  "writes",   "peeks",
                                      "pokes",  "runs",   "began",    "ended",    "ran",    "died",     "fault",
                                      "healed", "stock",  "probe",    "leftover"};
static_assert(std::size(names) == static_cast<std::size_t>(event::kind::leftover) + 1);

}  // namespace

std::string_view name_of(event::kind k) noexcept { return names[static_cast<std::size_t>(k)]; }

std::ostream& operator<<(std::ostream& out, const event& e) {
  return out << e.at << ' ' << e.party << ' ' << name_of(e.what) << ' ' << int{e.lock} << ' ' << int{e.part} << ' '
             << (e.yes ? "yes" : "no") << ' ' << e.fence << ' ' << e.deadline << ' ' << e.value << ' ' << e.text
             << '\n';
}

std::optional<event> parse(const std::string& line) {
  std::istringstream in(line);
  event e;
  std::string what, yes, text;
  int lock = 0, part = 0;
  in >> e.at >> e.party >> what >> lock >> part >> yes >> e.fence >> e.deadline >> e.value;
  if (!in) return {};
  std::getline(in >> std::ws, text);
  e.say(text);
  for (std::size_t n = 0; n < std::size(names); ++n) {
    if (names[n] != what) continue;
    e.what = static_cast<event::kind>(n);
    e.lock = static_cast<std::uint8_t>(lock);
    e.part = static_cast<std::uint8_t>(part);
    e.yes = yes == "yes";
    return e;
  }
  return {};
}

}  // namespace holdfast::chaos
