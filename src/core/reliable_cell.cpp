#include "core/reliable_cell.hpp"

#include <utility>

#include "core/linked_limit.hpp"
#include "core/retry.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::instant;
using runtime::wake;
using storage::answer;
using storage::failure;
using storage::reading;

namespace {

failure cell_closed() { return failure(errc::closed, ""); }

}  // namespace

reliable_cell::reliable_cell(std::unique_ptr<storage::cell> c, runtime::span patience, silence& s,
                             std::stop_token closing) noexcept
    : cell_(std::move(c)), patience_(patience), silence_(&s), closing_(std::move(closing)) {}

task<answer<reading>> reliable_cell::look(io& i, limit l) {
  if (closing_.stop_requested()) co_return answer<reading>::unknown(cell_closed());
  const linked_limit until(l, closing_);
  const instant now = i.now();
  const limit bound(l.at() <= now ? runtime::never : l.at(), until.get().stop());
  retry_rule rule = retry_rule::within(bound, now, patience_);
  rule.catch_errors = true;
  const auto get = [&](const limit& one) { return cell_->get(i, one); };
  answer<reading> got = co_await retry_until_answered<reading>(i, *silence_, rule, get);
  if (got.is_unknown() && closing_.stop_requested()) co_return answer<reading>::unknown(cell_closed());
  co_return got;
}

task<answer<std::uint64_t>> reliable_cell::put(io& i, std::uint64_t seen, storage::change wanted, limit l) {
  if (closing_.stop_requested()) co_return answer<std::uint64_t>::unknown(cell_closed());
  const linked_limit until(l, closing_);
  retry_rule rule = retry_rule::within(until.get(), i.now(), patience_);
  rule.catch_errors = true;
  unsigned tries = 0;
  const auto set = [&](const limit& one) {
    wanted.again = tries++ > 0;
    if (wanted.again && seeded(bug::new_id_each_try)) wanted.id = {i.random(), i.random()};
    return cell_->put(i, seen, wanted, one);
  };
  answer<std::uint64_t> got = co_await retry_until_answered<std::uint64_t>(i, *silence_, rule, set);
  // An error that the store reported at the first try: the change was not made.
  if (!got.is_unknown() || (got.why().permanent() && tries == 1)) co_return got;
  const std::string words = "it is not known whether it was done: " + got.why().text;
  co_return answer<std::uint64_t>::unknown(failure(errc::unreachable, words));
}

task<wake> reliable_cell::changed(io& i, reading seen, limit l) {
  const linked_limit until(l, closing_);
  const wake why = co_await cell_->changed(i, std::move(seen), until.get());
  // The next look() reports that the store was closed.
  co_return why == wake::stopped&& closing_.stop_requested() ? wake::signalled : why;
}

}  // namespace holdfast::core
