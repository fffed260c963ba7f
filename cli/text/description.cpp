#include "text/description.hpp"

#include "text/age.hpp"
#include "text/printable.hpp"
#include "text/state_text.hpp"

namespace holdfast::cli {

namespace {

using std::chrono::system_clock;

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
    lines.emplace_back("  held by another library, of which no more is known");
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
    lines.push_back("  and " + std::to_string(s.holding - s.holders.size()) + " more who hold it");
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
