#include "core/asked_cell.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/cut.hpp"
#include "core/reason.hpp"
#include "runtime/back_off.hpp"
#include "seeded_bugs.hpp"

namespace holdfast::core {

using runtime::instant;
using runtime::later;
using runtime::wake;
using storage::answer;
using storage::failure;
using storage::reading;

namespace {

failure closed() { return failure(errc::closed, ""); }

}  // namespace

asked_cell::asked_cell(std::unique_ptr<storage::cell> c, runtime::span patience, silence& s,
                       std::stop_token closing) noexcept
    : cell_(std::move(c)), patience_(patience), silence_(&s), closing_(std::move(closing)) {}

task<answer<reading>> asked_cell::look(io& i, limit l) {
  const cut until(l, closing_);
  const instant began = i.now();
  const bool one_look = l.at() <= began;
  const instant last = std::min(one_look ? runtime::never : l.at(), later(began, patience_));
  answer<reading> got = answer<reading>::no();
  reason why_not;
  for (unsigned tries = 0;; ++tries) {
    if (closing_.stop_requested()) co_return answer<reading>::unknown(closed());
    limit for_reply(last, until.get().stop());
    try {
      got = co_await cell_->get(i, std::move(for_reply));
    } catch (const std::exception& e) {
      got = answer<reading>::unknown(failure(errc::not_ready, e.what()));
    }
    const instant now = i.now();
    silence_->hear(got, now);
    if (!got.is_unknown()) co_return got;
    why_not.settle(got, now >= last);
    if (got.why().permanent() || now >= last) co_return got;
    limit pause(std::min(last, later(now, back_off(i, tries))), until.get().stop());
    const wake why = co_await sleep(i, std::move(pause));
    if (why == wake::stopped) co_return closing_.stop_requested() ? answer<reading>::unknown(closed()) : std::move(got);
  }
}

task<answer<std::uint64_t>> asked_cell::put(io& i, std::uint64_t seen, storage::change wanted, limit l) {
  const cut until(l, closing_);
  const instant last = std::min(l.at(), later(i.now(), patience_));
  if (closing_.stop_requested()) co_return answer<std::uint64_t>::unknown(closed());
  answer<std::uint64_t> got = answer<std::uint64_t>::no();
  reason why_not;
  for (unsigned tries = 0;; ++tries) {
    limit for_reply(last, until.get().stop());
    try {
      got = co_await cell_->put(i, seen, wanted, std::move(for_reply));
    } catch (const std::exception& e) {  // it may have been sent
      got = answer<std::uint64_t>::unknown(failure(errc::not_ready, e.what()));
    }
    const instant now = i.now();
    silence_->hear(got, now);
    if (!got.is_unknown()) co_return got;
    why_not.settle(got, now >= last);
    if (got.why().permanent()) break;
    wanted.again = true;
    if (seeded(bug::new_id_each_try)) wanted.id = {i.random(), i.random()};
    if (now >= last) break;
    limit pause(std::min(last, later(now, back_off(i, tries))), until.get().stop());
    const wake why = co_await sleep(i, std::move(pause));
    if (why == wake::stopped) break;
  }
  if (!wanted.again) co_return got;  // the store did answer, and what it was asked was not done
  const std::string words = "it is not known whether it was done: " + got.why().text;
  co_return answer<std::uint64_t>::unknown(failure(errc::unreachable, words));
}

task<wake> asked_cell::changed(io& i, reading seen, limit l) {
  const cut until(l, closing_);
  const wake why = co_await cell_->changed(i, std::move(seen), until.get());
  // Whoever looks then hears of the end.
  co_return why == wake::stopped&& closing_.stop_requested() ? wake::signalled : why;
}

}  // namespace holdfast::core
