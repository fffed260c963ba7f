#include "watch/changes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/state.hpp"
#include "text/utf8.hpp"
#include "text/words.hpp"

namespace holdfast::cli {

namespace {

using change_kind = change::kind;
using holder_list = std::vector<state::holder>;

/// Permits are identified by owner; for a lock, one owner may have several leases in turn.
bool is_same(const state::holder& one, const state::holder& other) {
  return one.owner == other.owner && (one.permits != 0 || one.fence == other.fence);
}

holder_list without(const holder_list& some, const holder_list& others) {
  holder_list rest;
  std::copy_if(some.begin(), some.end(), std::back_inserter(rest), [&](const state::holder& each) {
    return std::none_of(others.begin(), others.end(), [&](const state::holder& other) { return is_same(each, other); });
  });
  return rest;
}

bool is_new(const std::optional<state::note>& now, const std::optional<state::note>& before) {
  if (!now) return false;
  return !before || now->at != before->at || now->fence != before->fence || now->reason != before->reason;
}

bool all_are_listed(const state& s) { return s.holders.size() == s.holding; }

/// Compares two states of one name.
class comparison {
 public:
  comparison(const std::string& name, const state& before, const state& now, boot_clock::duration between)
      : name_(name), before_(before), now_(now), between_(between) {}

  std::vector<change> made() {
    if (all_are_listed(before_) && all_are_listed(now_)) {
      compare_holders();
    } else if (before_.holding != now_.holding) {
      add(change_kind::holders);
    }
    if (is_new(now_.asked, before_.asked)) add(change_kind::asked);
    if (found_.empty() && before_.waiting != now_.waiting) add(change_kind::waiting);
    return std::move(found_);
  }

 private:
  void compare_holders() {
    const holder_list gone = without(before_.holders, now_.holders), come = without(now_.holders, before_.holders);
    const bool broken = is_new(now_.broken, before_.broken);
    const auto is_whole = [](const state::holder& h) { return !h.reads && h.permits == 0; };
    if (!broken && gone.size() == 1 && come.size() == 1 && is_whole(gone.front()) && is_whole(come.front())) {
      change& c = add(change_kind::handed_over);
      c.from = gone.front();
      c.to = come.front();
      return;
    }
    for (const state::holder& each : gone) {
      change& c = add(broken ? change_kind::broken : change_kind::released);
      c.from = each;
      c.perhaps_lost = !broken && each.left && *each.left <= between_;
    }
    for (const state::holder& each : come) add(change_kind::acquired).to = each;
  }

  change& add(change_kind what) { return found_.emplace_back(change{.what = what, .name = name_, .now = now_}); }

  const std::string& name_;
  const state& before_;
  const state& now_;
  const boot_clock::duration between_;
  std::vector<change> found_;
};

}  // namespace

std::vector<change> changes::see(const listing::entry& e, instant at) {
  const auto known = names_.find(e.name);
  const bool is_known = known != names_.end();
  std::vector<change> found;
  if (round_ == 1 && !is_known) {
    found.push_back(change{.what = change_kind::present, .name = e.name, .now = e.now});
  } else {
    const state nothing;
    found = comparison(e.name, is_known ? known->second.was : nothing, e.now,
                       is_known ? at - known->second.at : instant::duration(0))
                .made();
  }
  if (e.now.holding == 0 && e.now.waiting == 0) {
    if (is_known) names_.erase(known);
  } else {
    names_.insert_or_assign(e.name, memory{e.now, at, round_});
  }
  return found;
}

std::vector<std::string> changes::missing() const {
  std::vector<std::string> names;
  for (const auto& [name, last] : names_) {
    if (last.round != round_) names.push_back(name);
  }
  return names;
}

namespace {

using std::chrono::system_clock;

std::string_view word_for(change_kind k) {
  switch (k) {
    case change_kind::present: return "present";
    case change_kind::acquired: return "acquired";
    case change_kind::released: return "released";
    case change_kind::handed_over: return "handed over";
    case change_kind::broken: return "broken";
    case change_kind::asked: return "asked";
    case change_kind::holders: return "holders";
    case change_kind::waiting: return "waiting";
  }
  return "";
}

std::string with_fence(const state::holder& h) {
  std::string text = h.foreign ? "another library" : who(h);
  if (h.fence != 0) text += ", fence " + std::to_string(h.fence);
  return text;
}

std::string reason_of(const std::optional<state::note>& n) {
  return n && !n->reason.empty() ? ": " + printable(n->reason) : "";
}

std::string about(const change& c) {
  switch (c.what) {
    case change_kind::handed_over: return who(*c.from) + " -> " + with_fence(*c.to);
    case change_kind::acquired: return with_fence(*c.to);
    case change_kind::released: return with_fence(*c.from);
    case change_kind::broken: return with_fence(*c.from) + reason_of(c.now.broken);
    case change_kind::asked: return holders_in_brief(c.now) + reason_of(c.now.asked);
    case change_kind::holders: return mode_of(c.now);
    case change_kind::present:
      return c.now.holders.empty() ? "nobody" : mode_of(c.now) + " " + with_fence(c.now.holders.front());
    case change_kind::waiting: break;
  }
  return c.now.holders.empty() ? "nobody" : holders_in_brief(c.now);
}

}  // namespace

std::string to_text(const change& c, system_clock::time_point at, std::optional<std::size_t> width) {
  const std::string what = std::string(word_for(c.what)) + (c.perhaps_lost ? "?" : "");
  std::string line = local_time(at).substr(11) + " " + pad_right(what, 11) + " ";
  line += pad_right(printable(c.name), 24) + " " + about(c);
  line += "; " + std::to_string(c.now.waiting) + " waiting";
  return width ? cut(line, *width) : line;
}

json_value to_json(const change& c, system_clock::time_point at) {
  json_value all;
  all["event"] = c.what == change_kind::handed_over ? std::string_view("handed_over") : word_for(c.what);
  all["time"] = seconds_of(at);
  if (c.what == change_kind::present) {
    put_state(all, c.name, c.now);
    return all;
  }
  put_name(all, c.name);
  if (c.from) all["from"] = to_json(*c.from);
  if (c.to) all["to"] = to_json(*c.to);
  if (c.perhaps_lost) all["perhaps_lost"] = true;
  all["holding"] = c.now.holding;
  all["waiting"] = c.now.waiting;
  if (c.what == change_kind::asked) all["asked"] = to_json(*c.now.asked);
  if (c.what == change_kind::broken) all["broken"] = to_json(*c.now.broken);
  return all;
}

}  // namespace holdfast::cli
