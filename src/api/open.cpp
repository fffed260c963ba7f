#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "api/check.hpp"
#include "api/service.hpp"
#include "directory/client.hpp"
#include "directory/folder.hpp"
#include "holdfast/store.hpp"
#include "memory/client.hpp"
#include "quorum/client.hpp"
#include "redis/lock/client.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/redlock/redlock.hpp"

namespace holdfast {

namespace {

/// A URL scheme and how a store is created from such a URL.
struct scheme {
  std::string_view name;
  std::string (*shown)(std::string_view url);  ///< without secrets
  std::unique_ptr<storage::backend> (*make)(const std::string& url, runtime::loop&);
};

std::string without_scheme(const std::string& url) { return url.substr(url.find(':') + 1); }

std::unique_ptr<storage::backend> make_memory(const std::string& url, runtime::loop&) {
  const std::string rest = without_scheme(url);
  return std::make_unique<memory::client>(rest.empty() ? std::make_shared<memory::server>()
                                                       : memory::server::named(rest));
}

std::unique_ptr<storage::backend> make_directory(const std::string& url, runtime::loop& loop) {
  return std::make_unique<directory::client>(without_scheme(url), loop);
}

std::unique_ptr<storage::backend> make_redis(const std::string& url, runtime::loop& loop) {
  return redis::client::open(url, loop);
}

std::unique_ptr<storage::backend> make_redlock(const std::string& url, runtime::loop& loop) {
  const redis::redlock all = redis::redlock::parse(url);
  const auto clock = [] {
    const auto today = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(today).count());
  };
  quorum::client::settings how{
      .max_ttl = all.max_ttl, .min_margin = all.min_margin, .clock = clock, .known = all.findings()};
  return std::make_unique<quorum::client>(all.open(loop), std::move(how), loop);
}

std::string as_it_is(std::string_view url) { return std::string(url); }

constexpr scheme schemes[] = {
    {"dir", as_it_is, make_directory},
    {"memory", as_it_is, make_memory},
    {"redis", redis::settings::shown, make_redis},
    {"redis+cluster", redis::settings::shown, make_redis},
    {"redis+sentinel", redis::settings::shown, make_redis},
    {"redis+unix", redis::settings::shown, make_redis},
    {"rediss", redis::settings::shown, make_redis},
    {"rediss+cluster", redis::settings::shown, make_redis},
    {"rediss+sentinel", redis::settings::shown, make_redis},
    {"redlock", redis::redlock::shown, make_redlock},
    {"redlock+unix", redis::redlock::shown, make_redlock},
    {"redlocks", redis::redlock::shown, make_redlock},
    {"valkey", redis::settings::shown, make_redis},
    {"valkeys", redis::settings::shown, make_redis},
};

/// If the scheme of a URL is unknown, only the scheme is shown, since the rest may contain a password. Text with an @
/// is not a scheme.
bool quotable(const std::string& scheme) { return scheme.find('@') == std::string::npos; }

std::string or_of_this_user(std::string_view url) {
  return url.empty() ? "dir:" + directory::folder::of_this_user() : std::string(url);
}

}  // namespace

std::string shown_url(std::string_view given) {
  const std::string url = or_of_this_user(given);
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos) return "";
  const std::string wanted = url.substr(0, colon);
  for (const scheme& s : schemes) {
    if (s.name == wanted) return s.shown(url);
  }
  return quotable(wanted) ? wanted + ":" : "";
}

store open(std::string_view given, const open_options& options) {
  detail::check_open_options(options);
  const std::string url = or_of_this_user(given);
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos) {
    throw lock_error(errc::bad_url, "", "a store is given as scheme:rest, for example dir:/var/lib/locks");
  }
  const std::string wanted = url.substr(0, colon);
  for (const scheme& s : schemes) {
    if (s.name != wanted) continue;
    const auto make = [&](runtime::loop& loop) { return s.make(url, loop); };
    return detail::service::open(s.shown(url), make, options);
  }
  std::string known;
  for (const scheme& s : schemes) known.append(known.empty() ? "" : ", ").append(s.name);
  throw lock_error(
      errc::bad_url, "",
      "no store answers to " + (quotable(wanted) ? "'" + wanted + ":'" : "that") + "; this build knows " + known);
}

}  // namespace holdfast
