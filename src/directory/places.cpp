#include "directory/places.hpp"

#include <chrono>
#include <limits>
#include <numeric>

namespace holdfast::directory {

places::places(const database& in)
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
      remove_(in.get(), "DELETE FROM place WHERE name = ? AND held = 0 AND ticket = ?"),
      remove_holder_(in.get(), "DELETE FROM place WHERE name = ? AND held = ? AND ticket = 0 AND owner = ?"),
      close_holders_(in.get(),
                     "UPDATE place SET held = 4611686018427387904, session = 0, expires = ? + delay * 1000000 "
                     "WHERE name = ? AND held = ? AND delay > 0"),
      remove_holders_(in.get(), "DELETE FROM place WHERE name = ? AND held = ? RETURNING part"),
      next_holder_(in.get(), "SELECT held FROM place WHERE name = ? AND held > ? ORDER BY held LIMIT 1"),
      label_(in.get(), "SELECT label FROM place WHERE name = ? AND held > 0 ORDER BY held LIMIT 1"),
      first_end_(in.get(),
                 "SELECT held, owner, part, expires FROM place WHERE name = ? AND expires < 4611686018427387904 "
                 "ORDER BY expires LIMIT 1"),
      waits_from_(in.get(),
                  "SELECT ticket, owner, session, part, ttl FROM place WHERE name = ? AND held = 0 AND ticket >= ? "
                  "ORDER BY ticket LIMIT 1"),
      waits_before_(in.get(),
                    "SELECT ticket, session FROM place WHERE name = ? AND held = 0 AND ticket > 0 AND ticket < ? "
                    "ORDER BY ticket DESC LIMIT 1"),
      remove_waiters_(in.get(), "DELETE FROM place WHERE name = ? AND held = 0 AND ticket > 0 AND session = ?"),
      let_in_(in.get(),
              "UPDATE place SET held = session, ticket = 0, fence = ?, expires = ? "
              "WHERE name = ? AND held = 0 AND ticket = ?"),
      process_(in.get(), "SELECT id, pid, namespace FROM session WHERE id = ?"),
      all_at_(in.get(),
              "SELECT held, owner, session, part, whole, fence, expires, label, ticket FROM place WHERE name = ? "
              "ORDER BY held, ticket"),
      next_name_(in.get(), "SELECT name FROM place WHERE name > ? AND name >= ? ORDER BY name LIMIT 1") {}

places::sum places::find_sum(const std::string& name) { return find_sum_.row<sum>(name).value_or(sum{}); }

void places::add_sum(const std::string& name, const sum& is) { add_sum_.run(name, is.used, is.whole, is.fence); }

void places::change_sum(const std::string& name, const sum& is) { change_sum_.run(name, is.used, is.whole, is.fence); }

void places::remove_sum(const std::string& name) { remove_waiter(name, 0); }

std::optional<places::holder> places::find_holder(const std::string& name, session_id by, const owner_bytes& owner) {
  return find_holder_.row<holder>(name, by, owner);
}

void places::insert(const entry& who, session_id held, session_id by, std::int64_t ticket, std::uint64_t fence,
                    std::int64_t expires) {
  insert_.run(who.name, held, ticket, who.owner, by, who.wants.part, who.wants.whole, fence,
              who.fixed ? who.ttl.count() : 0, expires, who.label, who.delay.count());
}

void places::add_holder(const entry& who, session_id by, std::uint64_t fence, std::int64_t expires) {
  insert(who, by, by, 0, fence, expires);
}

void places::extend(const std::string& name, session_id by, const owner_bytes& owner, std::int64_t expires) {
  extend_.run(expires, name, by, owner);
}

void places::downgrade(const std::string& name, session_id by, const owner_bytes& owner, std::uint64_t fence) {
  downgrade_.run(fence, name, by, owner);
}

void places::remove_holder(const std::string& name, session_id by, const owner_bytes& owner) {
  remove_holder_.run(name, by, owner);
}

void places::close_holders(const std::string& name, session_id of, std::int64_t now) {
  close_holders_.run(now, name, of);
}

std::uint64_t places::remove_holders(const std::string& name, session_id of) {
  const std::vector<std::uint64_t> parts = remove_holders_.rows<std::uint64_t>(name, of);
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
}

session_id places::next_holder(const std::string& name, session_id after) {
  return next_holder_.row<session_id>(name, after).value_or(0);
}

std::string places::label_of_a_holder(const std::string& name) { return label_.row<std::string>(name).value_or(""); }

std::optional<places::end> places::first_end(const std::string& name) { return first_end_.row<end>(name); }

std::optional<places::waiter> places::waits_from(const std::string& name, std::int64_t ticket) {
  return waits_from_.row<waiter>(name, ticket);
}

std::optional<places::predecessor> places::waits_before(const std::string& name, std::int64_t ticket) {
  return waits_before_.row<predecessor>(name, ticket);
}

std::int64_t places::add_waiter(const entry& who, session_id by) {
  const std::optional<predecessor> last = waits_before(who.name, std::numeric_limits<std::int64_t>::max());
  // Growing, and never below the clock when it was taken: so it tells since when somebody waits.
  const auto today = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t clock = std::chrono::duration_cast<std::chrono::microseconds>(today).count();
  const std::int64_t ticket = std::max(last ? last->ticket + 1 : 1, clock);
  insert(who, 0, by, ticket, 0, for_ever);
  return ticket;
}

void places::remove_waiter(const std::string& name, std::int64_t ticket) { remove_.run(name, ticket); }

void places::remove_waiters(const std::string& name, session_id of) { remove_waiters_.run(name, of); }

void places::let_in(const std::string& name, const waiter& w, std::uint64_t fence, std::int64_t expires) {
  let_in_.run(fence, expires, name, w.ticket);
}

std::vector<places::row> places::all_at(const std::string& name) {
  std::vector<row> all = all_at_.rows<row>(name);
  if (all.empty() || all.front().held != 0 || all.front().ticket != 0) return all;
  // The first row is the sum. Those who were there before a resize have the old number in theirs.
  for (row& each : all) each.whole = all.front().whole;
  all.erase(all.begin());
  return all;
}

std::optional<std::string> places::next_name(const std::string& after, const std::string& from) {
  return next_name_.row<std::string>(after, from);
}

process places::process_of(session_id id) { return process_.row<process>(id).value_or(process{.session = id}); }

}  // namespace holdfast::directory
