#include "text/state.hpp"

#include <algorithm>
#include <charconv>

#include "text/utf8.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::string_view not_known = "-";

/// The pid to signal, and the label without it. A default label (hold_options::label_for) begins with the pid of the
/// process that the user started; the pid in the store may be that of its worker.
struct identity {
  std::int64_t pid;
  std::string_view words;
};

identity identity_of(const state::party& p) {
  const identity as_it_is{p.pid, p.label};
  const std::string usual = p.host + " pid ";
  if (!p.label.starts_with(usual)) return as_it_is;
  identity said{0, std::string_view(p.label).substr(usual.size())};
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
  const identity said = identity_of(p);
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
    const bool more = s.holders.size() < s.holding;  // not all holders are listed
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

namespace {

std::string_view mode_word(const state& s) {
  if (s.permits != 0) return "permits";
  if (s.holders.empty()) return "free";
  if (s.holders.front().foreign) return "foreign";
  return s.holders.front().reads ? "shared" : "lock";
}

void put(json_value& into, const char* key, const std::string& text) {
  if (!text.empty()) into[key] = text;
}

template <class Number>
void put_number(json_value& into, const char* key, Number n) {
  if (n != 0) into[key] = n;
}

}  // namespace

double seconds_of(std::chrono::system_clock::time_point at) noexcept {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

void put_name(json_value& into, std::string_view name) {
  into["name"] = name;
  if (is_utf8(name)) return;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    hex.append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
  }
  into["name_hex"] = hex;
}

json_value to_json(const state::party& p) {
  json_value all = json_value::object();
  put(all, "owner", p.owner);
  put(all, "label", p.label);
  put(all, "host", p.host);
  put_number(all, "pid", p.pid);
  put(all, "program", p.program);
  put_number(all, "permits", p.permits);
  if (p.reads) all["reads"] = true;
  return all;
}

json_value to_json(const state::holder& h) {
  json_value all = to_json(static_cast<const state::party&>(h));
  if (h.foreign) all["foreign"] = true;
  put_number(all, "fence", h.fence);
  if (h.since) all["since"] = seconds_of(*h.since);
  if (h.left) all["left"] = std::chrono::duration<double>(*h.left).count();
  if (h.margin) all["margin"] = *h.margin;
  return all;
}

json_value to_json(const state::note& n) {
  json_value all = json_value::object();
  all["reason"] = n.reason;
  put(all, "by", n.by);
  put_number(all, "fence", n.fence);
  if (n.at) all["at"] = seconds_of(*n.at);
  return all;
}

void put_state(json_value& all, std::string_view name, const state& s) {
  put_name(all, name);
  all["mode"] = mode_word(s);
  put_number(all, "permits", s.permits);
  all["holding"] = s.holding;
  all["holders"] = json_value::array();
  for (const state::holder& each : s.holders) all["holders"].push_back(to_json(each));
  all["waiting"] = s.waiting;
  if (s.waiting_since) all["waiting_since"] = seconds_of(*s.waiting_since);
  if (!s.waiters.empty()) all["waiters"] = json_value::array();
  for (const state::party& each : s.waiters) all["waiters"].push_back(to_json(each));
  if (s.asked) all["asked"] = to_json(*s.asked);
  if (s.broken) all["broken"] = to_json(*s.broken);
}

json_value to_json(std::string_view name, const state& s) {
  json_value all;
  put_state(all, name, s);
  return all;
}

json_value to_json(const guarantees& g) {
  json_value all = json_value::object();
  all["exclusion"] = g.by == guarantees::exclusion::kernel ? "kernel" : "lease";
  all["fair"] = g.fair;
  all["survives_restart"] = g.survives_restart;
  all["notices_death_at_once"] = g.notices_death_at_once;
  return all;
}

std::string to_line(const json_value& j) { return j.dump(json_value::charset::ascii) + "\n"; }

namespace {

std::string with_comma(std::string all, const std::string& more) {
  if (!all.empty() && !more.empty()) all += ", ";
  return all += more;
}

std::string fence_text(std::uint64_t fence) { return fence == 0 ? "" : "fence " + std::to_string(fence); }

std::string share_text(const state::party& p) {
  if (p.permits != 0) return p.permits == 1 ? "1 permit" : std::to_string(p.permits) + " permits";
  return p.reads ? "reader" : "";
}

void add_holder(std::vector<std::string>& lines, const state::holder& h, system_clock::time_point now) {
  if (h.foreign) {
    lines.emplace_back("  held by another library; no details are known");
  } else {
    lines.push_back("  held by " + with_comma(who(h), share_text(h)));
  }
  const std::string owner = h.owner.empty() ? "" : "owner " + printable(h.owner);
  if (const std::string ids = with_comma(fence_text(h.fence), owner); !ids.empty()) lines.push_back("    " + ids);
  std::string times;
  if (h.since) times = "since " + local_time(*h.since) + " (" + brief(age_of(*h.since, now)) + ")";
  if (h.left) times = with_comma(times, brief(*h.left) + " left unless renewed");
  if (h.margin) times = with_comma(times, "margin " + std::to_string(*h.margin));
  if (!times.empty()) lines.push_back("    " + times);
}

void add_waiters(std::vector<std::string>& lines, const state& s, system_clock::time_point now) {
  if (s.waiting == 0) return;
  std::string line = "  waiting: " + std::to_string(s.waiting);
  if (s.waiting_since)
    line += ", the first since " + local_time(*s.waiting_since) + " (" + brief(age_of(*s.waiting_since, now)) + ")";
  lines.push_back(line);
  std::size_t place = 0;
  for (const state::party& each : s.waiters) {
    lines.push_back("    " + std::to_string(++place) + ". " + with_comma(who(each), share_text(each)));
  }
  if (s.waiting > place) lines.push_back("    and " + std::to_string(s.waiting - place) + " more");
}

std::string note_text(const state::note& n, system_clock::time_point now) {
  std::string text;
  if (n.at) text += " " + brief(age_of(*n.at, now)) + " ago";
  if (!n.by.empty()) text += " by " + printable(n.by);
  if (n.fence != 0) text += ", " + fence_text(n.fence);
  return text + ": " + (n.reason.empty() ? "no reason was given" : printable(n.reason));
}

}  // namespace

std::vector<std::string> describe(std::string_view name, const state& s, system_clock::time_point now) {
  std::vector<std::string> lines{printable(name) + ": " + mode_of(s)};
  for (const state::holder& each : s.holders) add_holder(lines, each, now);
  if (s.holding > s.holders.size()) {
    lines.push_back("  and " + std::to_string(s.holding - s.holders.size()) + " more holders");
  }
  add_waiters(lines, s, now);
  if (s.asked) lines.push_back("  asked to let go" + note_text(*s.asked, now));
  if (s.broken) lines.push_back("  broken" + note_text(*s.broken, now));
  return lines;
}

std::string describe(const guarantees& g) {
  std::string text = g.by == guarantees::exclusion::kernel ? "kept apart by the kernel" : "kept apart by leases";
  text += g.fair ? "; first come, first served" : "; in no order";
  text += g.survives_restart ? "; survives a restart" : "; forgotten at a restart";
  return text + (g.notices_death_at_once ? "; a death is noticed at once" : "; a death is noticed after the ttl");
}

}  // namespace holdfast::cli
