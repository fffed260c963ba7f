#include "api/check.hpp"

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

void check_prefix(std::string_view prefix) {
  if (!prefix.empty()) check_name(prefix);
}

std::optional<storage::owner_id> check_owner(std::string_view name, std::uint64_t fence, std::string_view owner) {
  if (owner.empty() && fence == 0) {
    throw lock_error(errc::bad_option, name, "give a fence or an owner, which say whose lock to break");
  }
  if (owner.empty()) return std::nullopt;
  const std::optional<storage::owner_id> id = storage::owner_of(owner);
  if (!id) throw lock_error(errc::bad_option, name, "an owner has 32 hexadecimal digits, as inspect() shows it");
  return id;
}

void check_reason(std::string_view name, std::string_view reason) {
  if (reason.size() <= longest_reason && reason.find('\0') == std::string_view::npos) return;
  throw lock_error(errc::bad_option, name,
                   "the reason must have at most " + std::to_string(longest_reason) + " bytes, and no NUL");
}

void check_ttl(std::string_view name, std::chrono::milliseconds ttl) {
  if (ttl >= 10ms && ttl <= 24h) return;
  throw lock_error(errc::bad_option, name,
                   "a ttl of " + std::to_string(ttl.count()) + " ms; it must be between 10 ms and 24 h");
}

void check_fair(std::string_view name, const lock_options& o) {
  if (!o.fair) {
    throw lock_error(errc::bad_option, name,
                     "readers, permits and several names at once are always fair; fair = false is for a mutex");
  }
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
  if (o.shared) check_fair(name, o);
  core::terms on{.ttl = o.ttl,
                 .renew = o.renew,
                 .max_hold = o.max_hold,
                 .delay = o.delay,
                 .fair = o.fair,
                 .label = std::string(o.label)};
  if (o.shared) on.wants = storage::share::reader();
  if (on.max_hold > 0ms && on.max_hold <= on.ttl) {  // a renewal is never needed
    on.ttl = on.max_hold;
    on.renew = false;
  }
  if (o.delay < 0ms || o.delay > on.ttl * 10) {
    throw lock_error(errc::bad_option, name,
                     "a delay of " + std::to_string(o.delay.count()) + " ms; it must be between 0 and ten ttls");
  }
  return on;
}

core::terms check_options_of_object(std::string_view name, const lock_options& o) {
  if (o.shared) throw lock_error(errc::bad_option, name, "shared is for leases; use a shared_mutex");
  return check_options(name, o);
}

void check_open_options(const open_options& o) {
  if (o.patience < 1ms || o.patience > 1h) {
    throw lock_error(errc::bad_option, "",
                     "a patience of " + std::to_string(o.patience.count()) + " ms; it must be between 1 ms and 1 h");
  }
  if (o.burst < 1) throw lock_error(errc::bad_option, "", "a burst of 0; it must be 1 at least");
}

}  // namespace holdfast::detail
