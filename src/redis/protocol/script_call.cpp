#include "redis/protocol/script_call.hpp"

#include "seeded_bugs.hpp"

namespace holdfast::redis {

storage::failure malformed_reply(std::string_view what) {
  return {errc::foreign, "the server's reply is malformed: " + std::string(what)};
}

bool is_number(const value& v, std::int64_t least) {
  return v.is(value::kind::integer) && v.number >= least && v.number <= largest_number;
}

std::optional<storage::failure> failure_of(const value& error, std::string_view prefix) {
  if (seeded(bug::noscript_is_no) && is_noscript(error.text)) return std::nullopt;
  return meaning_of(error.text, prefix);
}

command call_of(const script& s, std::size_t keys, std::size_t args) {
  command c(3 + keys + args);
  c.add("EVALSHA").add(s.sha).add(static_cast<std::int64_t>(keys));
  if (keys != 0) c.key_follows();
  return c;
}

command& add_keys(command& c, const keys& k) { return c.add(k.lock).add(k.queue).add(k.fence).add(k.holders); }

command load_of(const script& s) {
  command c(3);
  c.add("SCRIPT").add("LOAD").add(s.text);
  return c;
}

const claim_scripts exclusive_scripts{scripts::acquire, scripts::release, scripts::renew};
const claim_scripts unfair_scripts{scripts::acquire, scripts::release_barging, scripts::renew};
const claim_scripts reader_scripts{scripts::acquire_shared, scripts::release_shared, scripts::renew_shared};
const claim_scripts permit_scripts{scripts::take, scripts::give, scripts::renew_permits};

const claim_scripts& scripts_for(char wants) noexcept {
  return wants == '+' ? reader_scripts : wants == ':' ? permit_scripts : exclusive_scripts;
}

command release_of(const script& s, const keys& k, std::string_view owner, std::string_view inboxes) {
  command c = call_of(s, 4, 2);
  add_keys(c, k).add(owner).add(inboxes);
  return c;
}

}  // namespace holdfast::redis
