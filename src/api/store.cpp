#include "holdfast/store.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "api/check.hpp"
#include "api/operation.hpp"
#include "api/service.hpp"

namespace holdfast {

namespace {

constexpr boot_clock::time_point for_ever = boot_clock::time_point::max();

constexpr std::size_t most_names = 256;

/// Checked, and each once, in the order given: the first, and the others.
core::request request_of(const names& given, const limit& until, const lock_options& options) {
  if (given.size() == 0) throw lock_error(errc::bad_name, "", "no name is given");
  const std::string_view first = given[0];
  detail::check_name(first);
  core::request wanted(std::string{first}, detail::check_options(first, options), until);
  for (std::size_t n = 1; n < given.size(); ++n) {
    detail::check_name(given[n]);
    const bool again = given[n] == wanted.name || std::ranges::find(wanted.others, given[n]) != wanted.others.end();
    if (!again) wanted.others.emplace_back(given[n]);
    if (wanted.others.size() >= most_names) {
      throw lock_error(errc::bad_name, "", "more than " + std::to_string(most_names) + " names at once");
    }
  }
  if (!wanted.others.empty()) detail::check_fair(first, options);
  return wanted;
}

template <class T>
std::shared_ptr<detail::operation<T>> acquire_operation(
    const std::shared_ptr<detail::service>& on, const names& given, const limit& until, const lock_options& options,
    runtime::task<T> (*finish)(runtime::task<std::optional<lease>>)) {
  core::request wanted = request_of(given, until, options);
  std::string name = wanted.name;
  return std::make_shared<detail::operation<T>>(
      on, std::move(name), until.stop(),
      [finish, wanted = std::move(wanted)](detail::service& s, std::stop_token cancel) {
        core::request mine = wanted;
        mine.until = limit(mine.until.at(), std::move(cancel));
        return finish(s.acquire_on_loop(std::move(mine)));
      });
}

runtime::task<lease> for_certain(runtime::task<std::optional<lease>> asked) {
  std::optional<lease> got = co_await asked;
  if (!got) throw lock_error(errc::closed, "", "cancelled");  // nobody waits for it any more
  co_return std::move(*got);
}

runtime::task<std::optional<lease>> as_it_is(runtime::task<std::optional<lease>> asked) { return asked; }

std::error_code code_of(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::system_error& e) {
    return e.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  } catch (...) {
    return errc::not_ready;
  }
}

}  // namespace

store::store(std::shared_ptr<detail::service> s) noexcept : service_(std::move(s)) {}

lease store::acquire(const names& wanted, const lock_options& options) {
  return std::move(*try_acquire(wanted, limit(for_ever), options));  // without a limit it is there, or it has thrown
}

std::optional<lease> store::try_acquire(const names& wanted, const lock_options& options) {
  return try_acquire(wanted, within(std::chrono::seconds(0)), options);
}

std::optional<lease> store::try_acquire(const names& wanted, const limit& until, const lock_options& options) {
  const std::shared_ptr<detail::service> mine = service_;  // this handle may go while we wait
  return mine->acquire(request_of(wanted, until, options));
}

std::optional<lease> store::try_acquire(const names& wanted, const limit& until, const lock_options& options,
                                        std::error_code& why) noexcept {
  why.clear();
  try {
    return try_acquire(wanted, until, options);
  } catch (...) {
    why = code_of(std::current_exception());
    return std::nullopt;
  }
}

awaitable<lease> store::async_acquire(const names& wanted, const lock_options& options) {
  return detail::operation<lease>::to_await(
      acquire_operation<lease>(service_, wanted, limit(for_ever), options, for_certain));
}

awaitable<std::optional<lease>> store::async_try_acquire(const names& wanted, const limit& until,
                                                         const lock_options& options) {
  return detail::operation<std::optional<lease>>::to_await(
      acquire_operation<std::optional<lease>>(service_, wanted, until, options, as_it_is));
}

void store::async_try_acquire(const names& wanted, const limit& until, const lock_options& options, callback then) {
  const auto asked = acquire_operation<std::optional<lease>>(service_, wanted, until, options, as_it_is);
  asked->begin([then = std::move(then)](const std::exception_ptr& error, std::optional<std::optional<lease>> got) {
    if (error) {
      then(code_of(error), std::nullopt);
    } else {
      then({}, std::move(*got));
    }
  });
}

state store::inspect(std::string_view name) const { return inspect(name, limit(for_ever)); }

state store::inspect(std::string_view name, const limit& until) const {
  detail::check_name(name);
  const std::shared_ptr<detail::service> mine = service_;
  return mine->inspect(name, until);
}

bool store::revoke(std::string_view name, std::string_view reason, std::uint64_t fence) const {
  detail::check_name(name);
  detail::check_reason(name, reason);
  const std::shared_ptr<detail::service> mine = service_;
  return mine->revoke(name, reason, fence);
}

listing store::list(std::string_view prefix, std::string_view after) const {
  detail::check_prefix(prefix);
  const std::shared_ptr<detail::service> mine = service_;
  return mine->list(prefix, after);
}

bool store::break_lock(std::string_view name, std::uint64_t fence, std::string_view reason,
                       std::string_view owner) const {
  detail::check_name(name);
  detail::check_reason(name, reason);
  storage::break_request what{.name = std::string(name),
                              .fence = fence,
                              .owner = detail::check_owner(name, fence, owner),
                              .reason = std::string(reason)};
  const std::shared_ptr<detail::service> mine = service_;
  return mine->break_lock(std::move(what));
}

std::vector<finding> store::examine() const {
  const std::shared_ptr<detail::service> mine = service_;
  return mine->examine();
}

void store::close() noexcept { service_->close(); }

guarantees store::promises() const noexcept { return service_->backend().promises(); }

const std::string& store::url() const noexcept { return service_->url(); }

}  // namespace holdfast
