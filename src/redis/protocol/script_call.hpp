#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redis/protocol/error_reply.hpp"
#include "redis/protocol/keys.hpp"
#include "redis/protocol/script.hpp"
#include "redis/protocol/transport.hpp"
#include "storage/answer.hpp"

/// How scripts are called and their replies are read.
namespace holdfast::redis {

[[nodiscard]] storage::failure malformed_reply(std::string_view what);

/// Whether the value is a number from `least` to largest_number.
[[nodiscard]] bool is_number(const value&, std::int64_t least);

/// Returns the failure that an error reply stands for. Empty only with the seeded bug that takes an error for a "no".
[[nodiscard]] std::optional<storage::failure> failure_of(const value& error, std::string_view prefix);

/// Returns the answer for a reply that is an error, or nothing for any other reply.
template <class T>
std::optional<storage::answer<T>> failed(reply& r, std::string_view prefix) {
  using storage::answer;
  if (auto* const why = std::get_if<storage::failure>(&r)) return answer<T>::unknown(std::move(*why));
  const value& v = std::get<value>(r);
  if (!v.is(value::kind::error)) return std::nullopt;
  auto why = failure_of(v, prefix);
  return why ? answer<T>::unknown(std::move(*why)) : answer<T>::no();
}

/// Same as failed(), for a script whose reply is a number.
template <class T>
std::optional<storage::answer<T>> no_number(reply& r, std::string_view step, std::string_view prefix,
                                            std::int64_t least = 0) {
  auto why = failed<T>(r, prefix);
  if (!why && !is_number(std::get<value>(r), least)) why.emplace(storage::answer<T>::unknown(malformed_reply(step)));
  return why;
}

/// Begins a call. The keys and arguments have to be added.
[[nodiscard]] command call_of(const script&, std::size_t keys, std::size_t args);
/// Adds the keys that most scripts of a lock take.
command& add_keys(command&, const keys&);
/// Loads a script into the cache of the server.
[[nodiscard]] command load_of(const script&);

/// The scripts of a claim, which depend on what it requests.
struct claim_scripts {
  const script& acquire;
  const script& release;
  const script& renew;
};
extern const claim_scripts exclusive_scripts, unfair_scripts, reader_scripts, permit_scripts;
[[nodiscard]] const claim_scripts& scripts_for(char wants) noexcept;

[[nodiscard]] command release_of(const script&, const keys&, std::string_view owner, std::string_view inboxes);

}  // namespace holdfast::redis
