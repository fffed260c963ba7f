#include "free/free.hpp"

#include <algorithm>
#include <cstdint>

#include "text/printable.hpp"
#include "text/state_text.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

namespace {

/// Beside those who hold it.
bool has_room(const state& is, const hold_options& wanted) {
  if (is.holding == 0) return true;
  if (wanted.shared) return std::ranges::all_of(is.holders, &state::holder::reads);
  if (!wanted.permits || is.permits == 0) return false;
  std::uint64_t taken = is.holding - is.holders.size();  // of those who are not listed: one each, at least
  for (const state::holder& each : is.holders) taken += each.permits;
  return taken + wanted.permits->taken <= is.permits;
}

}  // namespace

outlook outlook_of(const state& is, const hold_options& wanted) {
  const bool in_use = is.holding > 0 || is.waiting > 0;
  const bool is_semaphore = in_use && is.permits != 0;
  if (wanted.permits && is_semaphore && is.permits != wanted.permits->all) return outlook::another_size;
  if (is.waiting > 0) return outlook::taken;  // first come, first served
  return has_room(is, wanted) ? outlook::free : outlook::taken;
}

std::vector<sight> look(const store& s, const hold_options& wanted, const limit& until) {
  std::vector<sight> all;
  for (const std::string& name : wanted.names) {
    // One that is over would count as none; so long a store that is there needs at most.
    const limit enough(std::max(until.at(), within(200ms).at()), until.stop());
    state is = s.inspect(name, enough);
    const outlook seen = outlook_of(is, wanted);
    if (seen == outlook::another_size) {
      throw lock_error(errc::foreign, name,
                       "a semaphore of " + std::to_string(is.permits) + " permits, and not of " +
                           std::to_string(wanted.permits->all));
    }
    all.push_back({name, std::move(is), seen == outlook::free});
  }
  return all;
}

limit for_one_look() { return within(2s); }

std::string in_words(const sight& s) {
  const std::string name = printable(s.name);
  return s.is.holders.empty() ? name + ", about to be handed to one who waits"
                              : name + ", held by " + holders_in_brief(s.is);
}

}  // namespace holdfast::cli
