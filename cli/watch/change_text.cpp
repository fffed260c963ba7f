#include "watch/change_text.hpp"

#include <string_view>

#include "text/age.hpp"
#include "text/columns.hpp"
#include "text/printable.hpp"
#include "text/state_json.hpp"
#include "text/state_text.hpp"

namespace holdfast::cli {

namespace {

using change_kind = change::kind;
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
