#include "text/state_json.hpp"

#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace holdfast::cli {

using nlohmann::ordered_json;

namespace {

std::string_view mode_word(const state& s) {
  if (s.permits != 0) return "permits";
  if (s.holders.empty()) return "free";
  if (s.holders.front().foreign) return "foreign";
  return s.holders.front().reads ? "shared" : "lock";
}

void put(ordered_json& into, const char* key, const std::string& text) {
  if (!text.empty()) into[key] = text;
}

template <class Number>
void put_number(ordered_json& into, const char* key, Number n) {
  if (n != 0) into[key] = n;
}

}  // namespace

double seconds_of(std::chrono::system_clock::time_point at) noexcept {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

void put_name(ordered_json& into, std::string_view name) {
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

ordered_json to_json(const state::party& p) {
  ordered_json all = ordered_json::object();
  put(all, "owner", p.owner);
  put(all, "label", p.label);
  put(all, "host", p.host);
  put_number(all, "pid", p.pid);
  put(all, "program", p.program);
  put_number(all, "permits", p.permits);
  if (p.reads) all["reads"] = true;
  return all;
}

ordered_json to_json(const state::holder& h) {
  ordered_json all = to_json(static_cast<const state::party&>(h));
  if (h.foreign) all["foreign"] = true;
  put_number(all, "fence", h.fence);
  if (h.since) all["since"] = seconds_of(*h.since);
  if (h.left) all["left"] = std::chrono::duration<double>(*h.left).count();
  if (h.margin) all["margin"] = *h.margin;
  return all;
}

ordered_json to_json(const state::note& n) {
  ordered_json all = ordered_json::object();
  all["reason"] = n.reason;
  put(all, "by", n.by);
  put_number(all, "fence", n.fence);
  if (n.at) all["at"] = seconds_of(*n.at);
  return all;
}

ordered_json to_json(std::string_view name, const state& s) {
  ordered_json all = ordered_json::object();
  put_name(all, name);
  all["mode"] = mode_word(s);
  put_number(all, "permits", s.permits);
  all["holding"] = s.holding;
  all["holders"] = ordered_json::array();
  for (const state::holder& each : s.holders) all["holders"].push_back(to_json(each));
  all["waiting"] = s.waiting;
  if (s.waiting_since) all["waiting_since"] = seconds_of(*s.waiting_since);
  if (!s.waiters.empty()) all["waiters"] = ordered_json::array();
  for (const state::party& each : s.waiters) all["waiters"].push_back(to_json(each));
  if (s.asked) all["asked"] = to_json(*s.asked);
  if (s.broken) all["broken"] = to_json(*s.broken);
  return all;
}

ordered_json to_json(const guarantees& g) {
  ordered_json all = ordered_json::object();
  all["exclusion"] = g.by == guarantees::exclusion::kernel ? "kernel" : "lease";
  all["fair"] = g.fair;
  all["survives_restart"] = g.survives_restart;
  all["notices_death_at_once"] = g.notices_death_at_once;
  return all;
}

std::string to_line(const ordered_json& j) {
  return j.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace holdfast::cli
