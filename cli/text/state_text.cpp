#include "text/state_text.hpp"

#include <algorithm>
#include <charconv>

#include "text/age.hpp"
#include "text/printable.hpp"

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::string_view not_known = "-";

/// Whom to signal, and what it says of itself. The label that the program gives itself (hold_options::label_for) begins
/// with the process that was started; the one that the store knows may be a worker behind it.
struct introduction {
  std::int64_t pid;
  std::string_view words;
};

introduction introduction_of(const state::party& p) {
  const introduction as_it_is{p.pid, p.label};
  const std::string usual = p.host + " pid ";
  if (!p.label.starts_with(usual)) return as_it_is;
  introduction said{0, std::string_view(p.label).substr(usual.size())};
  const auto [end, why] = std::from_chars(said.words.data(), said.words.data() + said.words.size(), said.pid);
  said.words.remove_prefix(static_cast<std::size_t>(end - said.words.data()));
  if (why != std::errc() || said.pid <= 0 || !said.words.starts_with(": ")) return as_it_is;
  said.words.remove_prefix(2);
  return said;
}

std::uint64_t permits_taken(const state& s) {
  std::uint64_t all = 0;
  for (const state::holder& each : s.holders) all += each.permits;
  return all;
}

std::string fence_of(const state& s) {
  const bool known = !s.holders.empty() && s.holders.front().fence != 0;
  return known ? std::to_string(s.holders.front().fence) : std::string(not_known);
}

std::string left_of(const state& s) {
  const bool known = !s.holders.empty() && s.holders.front().left;
  return known ? brief(*s.holders.front().left) : std::string(not_known);
}

}  // namespace

std::string who(const state::party& p) {
  std::string text = p.host;
  const auto add = [&](std::string_view more) {
    if (!more.empty()) text.append(text.empty() ? "" : " ").append(more);
  };
  const introduction said = introduction_of(p);
  if (said.pid != 0) add(std::to_string(said.pid));
  add(said.words.empty() ? std::string_view(p.program) : said.words);
  if (text.empty() && !p.owner.empty()) text = "owner " + p.owner;
  return printable(text);
}

std::string holders_in_brief(const state& s) {
  if (s.holders.empty()) return {};
  const state::holder& first = s.holders.front();
  std::string text = first.foreign ? "another library" : who(first);
  if (s.holding > 1) text += " +" + std::to_string(s.holding - 1);
  return text;
}

std::string mode_of(const state& s) {
  if (s.permits != 0) {
    const bool more = s.holders.size() < s.holding;  // not all are listed
    return "permits " + std::to_string(permits_taken(s)) + (more ? "+/" : "/") + std::to_string(s.permits);
  }
  if (s.holders.empty()) return "free";
  if (s.holders.front().foreign) return "foreign";
  return s.holders.front().reads ? "shared x" + std::to_string(s.holding) : "lock";
}

std::optional<milliseconds> held_for(const state& s, system_clock::time_point now) {
  std::optional<milliseconds> longest;
  for (const state::holder& each : s.holders) {
    if (each.since) longest = std::max(longest.value_or(milliseconds(0)), age_of(*each.since, now));
  }
  return longest;
}

std::optional<milliseconds> waited_for(const state& s, system_clock::time_point now) {
  if (!s.waiting_since) return std::nullopt;
  return age_of(*s.waiting_since, now);
}

table lock_table(std::optional<std::size_t> width) {
  return table({{.title = "NAME", .width = width ? 13U : 24U, .grows = true, .needed = 9},
                {.title = "MODE", .width = 12, .needed = 5},
                {.title = "FENCE", .width = 16, .to_right = true, .needed = 3},
                {.title = "HELD", .width = 6, .to_right = true, .needed = 7},
                {.title = "LEFT", .width = 5, .to_right = true, .needed = 2},
                {.title = "WAIT", .width = 4, .to_right = true, .needed = 8},
                {.title = "FOR", .width = 6, .to_right = true, .needed = 1},
                {.title = "HOLDER", .width = 18, .grows = true, .needed = 6}},
               width);
}

std::vector<std::string> lock_cells(std::string_view name, const state& s, system_clock::time_point now) {
  const auto held = held_for(s, now);
  const auto waited = waited_for(s, now);
  const std::string holder = holders_in_brief(s);
  return {printable(name),
          mode_of(s),
          fence_of(s),
          held ? brief(*held) : std::string(not_known),
          left_of(s),
          std::to_string(s.waiting),
          waited ? brief(*waited) : std::string(not_known),
          holder.empty() ? std::string(not_known) : holder};
}

}  // namespace holdfast::cli
