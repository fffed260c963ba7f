#include "redis/step.hpp"

namespace holdfast::redis {

seam::failure strange(std::string_view what) {
  return {errc::foreign, "the server's answer makes no sense: " + std::string(what)};
}

bool is_number(const value& v, std::int64_t least) {
  return v.is(value::kind::integer) && v.number >= least && v.number <= largest_number;
}

command call_of(const script& s, std::size_t keys, std::size_t args) {
  command c(3 + keys + args);
  c.add("EVALSHA").add(s.sha).add(static_cast<std::int64_t>(keys));
  if (keys != 0) c.key_follows();
  return c;
}

}  // namespace holdfast::redis
