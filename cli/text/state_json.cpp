#include "text/state_json.hpp"

#include "text/utf8.hpp"

namespace holdfast::cli {

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

}  // namespace holdfast::cli
