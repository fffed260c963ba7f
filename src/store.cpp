#include "holdfast/store.hpp"

#include <new>
#include <utility>

#include "check.hpp"
#include "operation.hpp"
#include "service.hpp"

namespace holdfast {

namespace {

constexpr boot_clock::time_point for_ever = boot_clock::time_point::max();

[[noreturn]] void several(std::span<const std::string_view> names, const lock_options& options) {
  if (names.empty()) throw lock_error(errc::bad_name, "", "no name is given");
  for (const std::string_view name : names) {
    detail::check_name(name);
    (void)detail::check_options(name, options);
  }
  throw lock_error(errc::unsupported, names.front(), "several names at once cannot be acquired yet");
}

template <class T>
std::shared_ptr<detail::operation<T>> acquire_operation(
    const std::shared_ptr<detail::service>& on, std::string_view name, const limit& until, const lock_options& options,
    runtime::task<T> (*finish)(runtime::task<std::optional<lease>>)) {
  detail::check_name(name);
  const bool one_look = core::is_one_look(until);
  return std::make_shared<detail::operation<T>>(
      on, std::string(name), until.stop(),
      [finish, one_look, at = until.at(), own_name = std::string(name),
       on_terms = detail::check_options(name, options)](detail::service& s, std::stop_token cancel) {
        return finish(s.acquire_at_home(core::request(own_name, on_terms, limit(at, std::move(cancel)), one_look)));
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

lease store::acquire(std::string_view name, const lock_options& options) {
  return std::move(*try_acquire(name, limit(for_ever), options));  // without a limit it is there, or it has thrown
}

lease store::acquire(std::initializer_list<std::string_view> names, const lock_options& options) {
  several(std::span(names.begin(), names.size()), options);
}

lease store::acquire(std::span<const std::string> names, const lock_options& options) {
  several(std::vector<std::string_view>(names.begin(), names.end()), options);
}

std::optional<lease> store::try_acquire(std::string_view name, const lock_options& options) {
  return try_acquire(name, within(std::chrono::seconds(0)), options);
}

std::optional<lease> store::try_acquire(std::string_view name, const limit& until, const lock_options& options) {
  detail::check_name(name);
  const std::shared_ptr<detail::service> mine = service_;  // this handle may go while we wait
  return mine->acquire(name, detail::check_options(name, options), until);
}

std::optional<lease> store::try_acquire(std::string_view name, const limit& until, const lock_options& options,
                                        std::error_code& why) noexcept {
  why.clear();
  try {
    return try_acquire(name, until, options);
  } catch (...) {
    why = code_of(std::current_exception());
    return std::nullopt;
  }
}

awaitable<lease> store::async_acquire(std::string_view name, const lock_options& options) {
  return detail::operation<lease>::to_await(
      acquire_operation<lease>(service_, name, limit(for_ever), options, for_certain));
}

awaitable<std::optional<lease>> store::async_try_acquire(std::string_view name, const limit& until,
                                                         const lock_options& options) {
  return detail::operation<std::optional<lease>>::to_await(
      acquire_operation<std::optional<lease>>(service_, name, until, options, as_it_is));
}

void store::async_try_acquire(std::string_view name, const limit& until, const lock_options& options, callback then) {
  const auto asked = acquire_operation<std::optional<lease>>(service_, name, until, options, as_it_is);
  asked->begin([then = std::move(then)](const std::exception_ptr& error, std::optional<std::optional<lease>> got) {
    if (error) {
      then(code_of(error), std::nullopt);
    } else {
      then({}, std::move(*got));
    }
  });
}

void store::close() noexcept { service_->close(); }

guarantees store::promises() const noexcept { return service_->backend().promises(); }

const std::string& store::url() const noexcept { return service_->url(); }

}  // namespace holdfast
