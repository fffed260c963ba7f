#include "directory/places.hpp"

#include <limits>

namespace holdfast::directory {

namespace {

std::string_view bytes_of(const owner_bytes& owner) { return {owner.data(), owner.size()}; }

/// What is shorter, because somebody wrote into the file, is nobody's.
owner_bytes owner_in(std::string_view bytes) {
  owner_bytes owner{};
  bytes.copy(owner.data(), owner.size());
  return owner;
}

std::int64_t as_number(std::uint64_t n) { return static_cast<std::int64_t>(n); }

void bind_and_run(statement& s, const std::string& name, const places::sum& is) {
  s.bind(1, name).bind(2, as_number(is.used)).bind(3, is.whole).bind(4, as_number(is.fence)).run();
}

}  // namespace

places::places(const database& in)
    : find_sum_(in.get(),
                "SELECT held, whole, part, fence, expires FROM place WHERE name = ? ORDER BY held, ticket LIMIT 1"),
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
      process_(in.get(), "SELECT pid, namespace FROM session WHERE id = ?"),
      all_at_(in.get(),
              "SELECT held, owner, session, part, whole, fence, expires, label, ticket FROM place WHERE name = ? "
              "ORDER BY held, ticket"),
      next_name_(in.get(), "SELECT name FROM place WHERE name > ? AND name >= ? ORDER BY name LIMIT 1") {}

places::sum places::find_sum(const std::string& name) {
  sum is;
  find_sum_.bind(1, name);
  if (find_sum_.step()) {
    const bool has_row = find_sum_.number(0) == 0;
    is = sum{static_cast<std::uint32_t>(find_sum_.number(1)), static_cast<std::uint64_t>(find_sum_.number(2)),
             static_cast<std::uint64_t>(find_sum_.number(3)), has_row, has_row || find_sum_.number(4) < for_ever};
  }
  find_sum_.reset();
  return is;
}

void places::add_sum(const std::string& name, const sum& is) { bind_and_run(add_sum_, name, is); }

void places::change_sum(const std::string& name, const sum& is) { bind_and_run(change_sum_, name, is); }

void places::remove_sum(const std::string& name) { remove_waiter(name, 0); }

std::optional<places::holder> places::find_holder(const std::string& name, session_id by, const owner_bytes& owner) {
  std::optional<holder> is;
  find_holder_.bind(1, name).bind(2, by).bind(3, bytes_of(owner));
  if (find_holder_.step()) {
    is = holder{static_cast<std::uint32_t>(find_holder_.number(0)), static_cast<std::uint64_t>(find_holder_.number(1)),
                find_holder_.number(2)};
  }
  find_holder_.reset();
  return is;
}

void places::insert(const entry& who, session_id held, session_id by, std::int64_t ticket, std::uint64_t fence,
                    std::int64_t expires) {
  insert_.bind(1, who.name).bind(2, held).bind(3, ticket).bind(4, bytes_of(who.owner)).bind(5, by);
  insert_.bind(6, who.wants.part).bind(7, who.wants.whole).bind(8, as_number(fence));
  insert_.bind(9, who.fixed ? who.ttl.count() : 0).bind(10, expires).bind(11, who.label);
  insert_.bind(12, who.delay.count()).run();
}

void places::add_holder(const entry& who, session_id by, std::uint64_t fence, std::int64_t expires) {
  insert(who, by, by, 0, fence, expires);
}

void places::extend(const std::string& name, session_id by, const owner_bytes& owner, std::int64_t expires) {
  extend_.bind(1, expires).bind(2, name).bind(3, by).bind(4, bytes_of(owner)).run();
}

void places::downgrade(const std::string& name, session_id by, const owner_bytes& owner, std::uint64_t fence) {
  downgrade_.bind(1, as_number(fence)).bind(2, name).bind(3, by).bind(4, bytes_of(owner)).run();
}

void places::remove_holder(const std::string& name, session_id by, const owner_bytes& owner) {
  remove_holder_.bind(1, name).bind(2, by).bind(3, bytes_of(owner)).run();
}

void places::close_holders(const std::string& name, session_id of, std::int64_t now) {
  close_holders_.bind(1, now).bind(2, name).bind(3, of).run();
}

std::uint64_t places::remove_holders(const std::string& name, session_id of) {
  std::uint64_t parts = 0;
  remove_holders_.bind(1, name).bind(2, of);
  while (remove_holders_.step()) parts += static_cast<std::uint64_t>(remove_holders_.number(0));
  remove_holders_.reset();
  return parts;
}

session_id places::next_holder(const std::string& name, session_id after) {
  next_holder_.bind(1, name).bind(2, after);
  const session_id next = next_holder_.step() ? next_holder_.number(0) : 0;
  next_holder_.reset();
  return next;
}

std::string places::label_of_a_holder(const std::string& name) {
  label_.bind(1, name);
  std::string label(label_.step() ? label_.bytes(0) : std::string_view());
  label_.reset();
  return label;
}

std::optional<places::end> places::first_end(const std::string& name) {
  std::optional<end> is;
  first_end_.bind(1, name);
  if (first_end_.step())
    is = end{first_end_.number(0), owner_in(first_end_.bytes(1)), static_cast<std::uint32_t>(first_end_.number(2)),
             first_end_.number(3)};
  first_end_.reset();
  return is;
}

std::optional<places::waiter> places::waits_from(const std::string& name, std::int64_t ticket) {
  std::optional<waiter> is;
  waits_from_.bind(1, name).bind(2, ticket);
  if (waits_from_.step()) {
    is = waiter{waits_from_.number(0), owner_in(waits_from_.bytes(1)), waits_from_.number(2),
                static_cast<std::uint32_t>(waits_from_.number(3)), waits_from_.number(4)};
  }
  waits_from_.reset();
  return is;
}

std::optional<places::predecessor> places::waits_before(const std::string& name, std::int64_t ticket) {
  std::optional<predecessor> is;
  waits_before_.bind(1, name).bind(2, ticket);
  if (waits_before_.step()) is = predecessor{waits_before_.number(0), waits_before_.number(1)};
  waits_before_.reset();
  return is;
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

void places::remove_waiter(const std::string& name, std::int64_t ticket) {
  remove_.bind(1, name).bind(2, ticket).run();
}

void places::remove_waiters(const std::string& name, session_id of) { remove_waiters_.bind(1, name).bind(2, of).run(); }

void places::let_in(const std::string& name, const waiter& w, std::uint64_t fence, std::int64_t expires) {
  let_in_.bind(1, as_number(fence)).bind(2, expires).bind(3, name).bind(4, w.ticket).run();
}

std::vector<places::row> places::all_at(const std::string& name) {
  std::vector<row> all;
  std::optional<std::uint32_t> whole;  // as the sum has it: who was there before a resize has the old one
  all_at_.bind(1, name);
  while (all_at_.step()) {
    const auto its_whole = static_cast<std::uint32_t>(all_at_.number(4));
    if (all_at_.number(0) == 0 && all_at_.number(8) == 0) {
      whole = its_whole;
      continue;
    }
    all.push_back({all_at_.number(0), owner_in(all_at_.bytes(1)), all_at_.number(2),
                   static_cast<std::uint32_t>(all_at_.number(3)), whole.value_or(its_whole),
                   static_cast<std::uint64_t>(all_at_.number(5)), all_at_.number(6), std::string(all_at_.bytes(7)),
                   all_at_.number(8)});
  }
  all_at_.reset();
  return all;
}

std::optional<std::string> places::next_name(const std::string& after, const std::string& from) {
  std::optional<std::string> next;
  next_name_.bind(1, after).bind(2, from);
  if (next_name_.step()) next = std::string(next_name_.bytes(0));
  next_name_.reset();
  return next;
}

process places::process_of(session_id id) {
  process is{.session = id};
  process_.bind(1, id);
  if (process_.step()) is = process{id, process_.number(0), process_.number(1)};
  process_.reset();
  return is;
}

}  // namespace holdfast::directory
