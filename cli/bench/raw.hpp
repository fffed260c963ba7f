#pragma once
#include <functional>
#include <holdfast/store.hpp>
#include <string>

namespace holdfast::cli {

/// The cheapest round trip to a store, without the library, as a baseline for locks.
struct raw_round_trip {
  std::string what;  ///< for people
  std::function<void()> once;
};

/// Redis without TLS: PING on a separate connection, which is answered even without authentication. Directory: two
/// SQLite transactions on the same disk. Otherwise, or if that fails: inspect() of the name.
[[nodiscard]] raw_round_trip raw_round_trip_of(const store&, const std::string& name);

/// The two kinds. Throw std::exception if the URL is of another kind or unreachable.
[[nodiscard]] raw_round_trip bare_ping(const std::string& url);
[[nodiscard]] raw_round_trip bare_transactions(const std::string& url);

}  // namespace holdfast::cli
