#include "storage/cell.hpp"

#include <algorithm>

#include "seeded_bugs.hpp"
#include "storage/cell_record.hpp"

namespace holdfast::storage {

namespace {

using std::chrono::ceil;
using std::chrono::microseconds;

/// The change is not among those remembered, and the cell has changed. Returns true if it was certainly never made.
bool was_never_made(const cell_record& is, std::uint64_t seen) {
  const std::uint64_t oldest = is.version - is.ids.size() + 1;
  if (seen >= is.version) return false;  // it belongs to an earlier cell, whose changes are not known
  if (seen + 1 >= oldest) return true;   // another change was made in its place
  if (is.ids.size() == cell_record::most_ids) return false;
  // All changes since the cell was created are known, and an earlier cell would still be remembered.
  return oldest - seen < static_cast<std::uint64_t>(cell_record::remembered_for);
}

}  // namespace

failure forgotten_change() {
  return failure(errc::lost, "too much has happened since it was asked for first, or the store has lost its state");
}

reading read_cell(const std::optional<cell_record>& is, std::int64_t now) {
  if (!is || is->forgettable(now)) return {.version = static_cast<std::uint64_t>(now)};
  if (!is->there(now)) return {.version = is->version};
  return {.version = is->version,
          .there = true,
          .number = is->number,
          .note = is->note,
          .left = ceil<milliseconds>(microseconds(is->ends - now))};
}

put_result put_cell(std::optional<cell_record>& is, std::uint64_t seen, const change& wanted, std::int64_t now) {
  using said = answer<std::uint64_t>;
  const auto cannot_tell = [&] { return wanted.again ? said::unknown(forgotten_change()) : said::no(); };
  if (is && is->forgettable(now)) is.reset();
  if (seeded(bug::ended_cell_forgotten) && is && !is->there(now)) is.reset();
  if (is) {
    const auto at = std::find(is->ids.begin(), is->ids.end(), wanted.id);
    if (at != is->ids.end() && !seeded(bug::ids_forgotten)) {
      return {said::yes(is->version - static_cast<std::uint64_t>(at - is->ids.begin()))};
    }
    if (is->version != seen) return {was_never_made(*is, seen) ? said::no() : cannot_tell()};
  } else {
    const std::int64_t age = now - static_cast<std::int64_t>(seen);
    if (age < 0 || age >= cell_record::remembered_for) return {cannot_tell()};
    is.emplace();
    is->version = std::max(static_cast<std::uint64_t>(now),
                           seen);  // then incremented: other clients may have seen an empty cell just now
  }
  const std::int64_t ttl = std::chrono::duration_cast<microseconds>(wanted.ttl).count();
  const bool only_longer = is->there(now) && ttl > 0 && is->number == wanted.number && is->note == wanted.note;
  ++is->version;
  is->ends = now + ttl;
  is->number = wanted.number;
  is->note = wanted.note;
  is->ids.insert(is->ids.begin(), wanted.id);
  if (is->ids.size() > cell_record::most_ids) is->ids.pop_back();
  return {said::yes(is->version), true, !only_longer};
}

bool has_changed(const std::optional<cell_record>& is, const reading& seen, std::int64_t now) noexcept {
  if (!is || is->forgettable(now)) return seen.there;
  return is->there(now) != seen.there || is->version != seen.version;
}

}  // namespace holdfast::storage
