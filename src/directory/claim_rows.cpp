#include "directory/claim_rows.hpp"

#include <chrono>
#include <limits>
#include <numeric>

namespace holdfast::directory {

claim_rows::claim_rows(const database& in)
    : find_sum_(in.get(),
                "SELECT whole, part, fence, held = 0, held = 0 OR expires < 4611686018427387904 FROM place "
                "WHERE name = ? ORDER BY held, ticket LIMIT 1"),
      add_sum_(in.get(), "INSERT INTO place VALUES(?, 0, 0, x'', 0, ?, ?, ?, 0, 4611686018427387904, x'', 0)"),
      change_sum_(in.get(),
                  "UPDATE place SET part = ?2, whole = ?3, fence = ?4 WHERE name = ?1 AND held = 0 AND ticket = 0"),
      find_holder_(in.get(),
                   "SELECT part, fence, expires FROM place WHERE name = ? AND held = ? AND ticket = 0 AND owner = ?"),
      insert_(in.get(), "INSERT INTO place VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      extend_(in.get(),
              "UPDATE place SET expires = max(expires, ?) "
              "WHERE name = ? AND held = ? AND ticket = 0 AND owner = ? AND expires < 4611686018427387904"),
      downgrade_(in.get(),
                 "UPDATE place SET part = 1, fence = ? WHERE name = ? AND held = ? AND ticket = 0 AND owner = ?"),
      remove_waiter_(in.get(), "DELETE FROM place WHERE name = ? AND held = 0 AND ticket = ?"),
      remove_holder_(in.get(), "DELETE FROM place WHERE name = ? AND held = ? AND ticket = 0 AND owner = ?"),
      delay_holders_(in.get(),
                     "UPDATE place SET held = 4611686018427387904, session = 0, expires = ? + delay * 1000000 "
                     "WHERE name = ? AND held = ? AND delay > 0"),
      remove_holders_(in.get(), "DELETE FROM place WHERE name = ? AND held = ? RETURNING part"),
      next_holder_(in.get(), "SELECT held FROM place WHERE name = ? AND held > ? ORDER BY held LIMIT 1"),
      label_(in.get(), "SELECT label FROM place WHERE name = ? AND held > 0 ORDER BY held LIMIT 1"),
      first_expiry_(in.get(),
                    "SELECT held, owner, part, expires FROM place WHERE name = ? AND expires < 4611686018427387904 "
                    "ORDER BY expires LIMIT 1"),
      first_waiter_(in.get(),
                    "SELECT ticket, owner, session, part, ttl FROM place WHERE name = ? AND held = 0 AND ticket >= ? "
                    "ORDER BY ticket LIMIT 1"),
      last_waiter_(in.get(),
                   "SELECT ticket, session FROM place WHERE name = ? AND held = 0 AND ticket > 0 AND ticket < ? "
                   "ORDER BY ticket DESC LIMIT 1"),
      remove_waiters_(in.get(), "DELETE FROM place WHERE name = ? AND held = 0 AND ticket > 0 AND session = ?"),
      admit_(in.get(),
             "UPDATE place SET held = session, ticket = 0, fence = ?, expires = ? "
             "WHERE name = ? AND held = 0 AND ticket = ?"),
      process_(in.get(), "SELECT id, pid, namespace FROM session WHERE id = ?"),
      all_(in.get(),
           "SELECT held, owner, session, part, whole, fence, expires, label, ticket FROM place WHERE name = ? "
           "ORDER BY held, ticket"),
      next_name_(in.get(), "SELECT name FROM place WHERE name > ? AND name >= ? ORDER BY name LIMIT 1") {}

claim_rows::sum claim_rows::find_sum(const std::string& name) { return find_sum_.row<sum>(name).value_or(sum{}); }

void claim_rows::add_sum(const std::string& name, const sum& is) { add_sum_.run(name, is.used, is.whole, is.fence); }

void claim_rows::change_sum(const std::string& name, const sum& is) {
  change_sum_.run(name, is.used, is.whole, is.fence);
}

void claim_rows::remove_sum(const std::string& name) { remove_waiter(name, 0); }

std::optional<claim_rows::holder> claim_rows::find_holder(const std::string& name, session_id by,
                                                          const owner_bytes& owner) {
  return find_holder_.row<holder>(name, by, owner);
}

void claim_rows::insert(const entry& who, session_id held, session_id by, std::int64_t ticket, std::uint64_t fence,
                        std::int64_t expires) {
  insert_.run(who.name, held, ticket, who.owner, by, who.wants.part, who.wants.whole, fence,
              who.fixed ? who.ttl.count() : 0, expires, who.label, who.delay.count());
}

void claim_rows::add_holder(const entry& who, session_id by, std::uint64_t fence, std::int64_t expires) {
  insert(who, by, by, 0, fence, expires);
}

void claim_rows::extend(const std::string& name, session_id by, const owner_bytes& owner, std::int64_t expires) {
  extend_.run(expires, name, by, owner);
}

void claim_rows::downgrade(const std::string& name, session_id by, const owner_bytes& owner, std::uint64_t fence) {
  downgrade_.run(fence, name, by, owner);
}

void claim_rows::remove_holder(const std::string& name, session_id by, const owner_bytes& owner) {
  remove_holder_.run(name, by, owner);
}

void claim_rows::delay_holders(const std::string& name, session_id of, std::int64_t now) {
  delay_holders_.run(now, name, of);
}

std::uint64_t claim_rows::remove_holders(const std::string& name, session_id of) {
  const std::vector<std::uint64_t> parts = remove_holders_.rows<std::uint64_t>(name, of);
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
}

session_id claim_rows::next_holder(const std::string& name, session_id after) {
  return next_holder_.row<session_id>(name, after).value_or(0);
}

std::string claim_rows::label_of_a_holder(const std::string& name) {
  return label_.row<std::string>(name).value_or("");
}

std::optional<claim_rows::expiry> claim_rows::first_expiry(const std::string& name) {
  return first_expiry_.row<expiry>(name);
}

std::optional<claim_rows::waiter> claim_rows::first_waiter(const std::string& name, std::int64_t from_ticket) {
  return first_waiter_.row<waiter>(name, from_ticket);
}

std::optional<claim_rows::predecessor> claim_rows::last_waiter(const std::string& name, std::int64_t before_ticket) {
  return last_waiter_.row<predecessor>(name, before_ticket);
}

std::int64_t claim_rows::add_waiter(const entry& who, session_id by) {
  const std::optional<predecessor> last = last_waiter(who.name, std::numeric_limits<std::int64_t>::max());
  // Tickets grow and are never below the clock, so they also say since when a claim waits.
  const auto today = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t clock = std::chrono::duration_cast<std::chrono::microseconds>(today).count();
  const std::int64_t ticket = std::max(last ? last->ticket + 1 : 1, clock);
  insert(who, 0, by, ticket, 0, no_expiry);
  return ticket;
}

void claim_rows::remove_waiter(const std::string& name, std::int64_t ticket) { remove_waiter_.run(name, ticket); }

void claim_rows::remove_waiters(const std::string& name, session_id of) { remove_waiters_.run(name, of); }

void claim_rows::admit(const std::string& name, const waiter& w, std::uint64_t fence, std::int64_t expires) {
  admit_.run(fence, expires, name, w.ticket);
}

std::vector<claim_rows::row> claim_rows::all(const std::string& name) {
  std::vector<row> found = all_.rows<row>(name);
  if (found.empty() || found.front().held != 0 || found.front().ticket != 0) return found;
  // The first row is the sum. Claims from before a resize still have the old number in theirs.
  for (row& each : found) each.whole = found.front().whole;
  found.erase(found.begin());
  return found;
}

std::optional<std::string> claim_rows::next_name(const std::string& after, const std::string& from) {
  return next_name_.row<std::string>(after, from);
}

process claim_rows::process_of(session_id id) { return process_.row<process>(id).value_or(process{.session = id}); }

}  // namespace holdfast::directory
