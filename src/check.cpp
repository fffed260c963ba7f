#include "check.hpp"

#include <string>

namespace holdfast::detail {

using namespace std::chrono_literals;

void check_name(std::string_view name) {
  if (name.empty()) throw lock_error(errc::bad_name, "", "the name is empty");
  if (name.size() > longest_name) {
    throw lock_error(errc::bad_name, "",
                     "the name has " + std::to_string(name.size()) + " bytes; at most " + std::to_string(longest_name));
  }
  if (name.find('\0') != std::string_view::npos) throw lock_error(errc::bad_name, "", "the name has a NUL byte");
}

void check_ttl(std::string_view name, std::chrono::milliseconds ttl) {
  if (ttl >= 10ms && ttl <= 24h) return;
  throw lock_error(errc::bad_option, name,
                   "a ttl of " + std::to_string(ttl.count()) + " ms; it must be between 10 ms and 24 h");
}

core::terms check_options(std::string_view name, const lock_options& o) {
  check_ttl(name, o.ttl);
  if (o.max_hold < 0ms || (o.max_hold > 0ms && o.max_hold < 10ms) || o.max_hold > 24h * 365) {
    throw lock_error(errc::bad_option, name,
                     "a max_hold of " + std::to_string(o.max_hold.count()) +
                         " ms; it must be 0 (no end), or between 10 ms and a year");
  }
  if (o.label.size() > longest_label || o.label.find('\0') != std::string_view::npos) {
    throw lock_error(errc::bad_option, name,
                     "the label must have at most " + std::to_string(longest_label) + " bytes, and no NUL");
  }
  core::terms on{.ttl = o.ttl, .renew = o.renew, .max_hold = o.max_hold, .label = std::string(o.label)};
  if (on.max_hold > 0ms && on.max_hold <= on.ttl) {  // it never needs to be renewed
    on.ttl = on.max_hold;
    on.renew = false;
  }
  return on;
}

void check_open_options(const open_options& o) {
  if (o.patience < 1ms || o.patience > 1h) {
    throw lock_error(errc::bad_option, "",
                     "a patience of " + std::to_string(o.patience.count()) + " ms; it must be between 1 ms and 1 h");
  }
  if (o.burst < 1) throw lock_error(errc::bad_option, "", "a burst of 0; it must be 1 at least");
}

}  // namespace holdfast::detail
