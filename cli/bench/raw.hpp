#pragma once
#include <functional>
#include <holdfast/store.hpp>
#include <string>

namespace holdfast::cli {

/// The cheapest round trip to a store, past the library: what a lock is to be compared with.
struct raw_round_trip {
  std::string what;  ///< in words
  std::function<void()> once;
};

/// Of Redis without TLS: PING on a connection of its own; one that is not authorised gets an answer, too. Of a
/// directory: two transactions of SQLite on the same disk. Of others, and where that fails: inspect() of the name.
[[nodiscard]] raw_round_trip raw_round_trip_of(const store&, const std::string& name);

/// The two kinds, by the URL. Throw std::exception when it is none of theirs, or cannot be reached.
[[nodiscard]] raw_round_trip bare_ping(const std::string& url);
[[nodiscard]] raw_round_trip bare_transactions(const std::string& url);

}  // namespace holdfast::cli
