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

/// How a script is called, and what its answer is: once for all steps.
namespace holdfast::redis {

[[nodiscard]] storage::failure malformed_reply(std::string_view what);

/// A number that nothing is the worse for, whoever sent it.
[[nodiscard]] bool is_number(const value&, std::int64_t least);

/// Returns the failure that an error reply stands for. Empty only with the seeded bug that takes an error for a "no".
[[nodiscard]] std::optional<storage::failure> failure_of(const value& error, std::string_view prefix);

/// Answers and errors are told apart here, once for all steps.
template <class T>
std::optional<storage::answer<T>> failed(reply& r, std::string_view prefix) {
  using storage::answer;
  if (auto* const why = std::get_if<storage::failure>(&r)) return answer<T>::unknown(std::move(*why));
  const value& v = std::get<value>(r);
  if (!v.is(value::kind::error)) return std::nullopt;
  auto why = failure_of(v, prefix);
  return why ? answer<T>::unknown(std::move(*why)) : answer<T>::no();
}

/// The same, of a step that is answered by a number.
template <class T>
std::optional<storage::answer<T>> no_number(reply& r, std::string_view step, std::string_view prefix,
                                            std::int64_t least = 0) {
  auto why = failed<T>(r, prefix);
  if (!why && !is_number(std::get<value>(r), least)) why.emplace(storage::answer<T>::unknown(malformed_reply(step)));
  return why;
}

/// Its keys and arguments follow.
[[nodiscard]] command call_of(const script&, std::size_t keys, std::size_t args);
/// Those that most scripts of a lock have, in their order.
command& add_keys(command&, const keys&);
/// The server knows the script then.
[[nodiscard]] command load_of(const script&);

/// The steps that a claim takes, by what it wants.
struct claim_scripts {
  const script& acquire;
  const script& release;
  const script& renew;
};
extern const claim_scripts exclusive_scripts, unfair_scripts, reader_scripts, permit_scripts;
[[nodiscard]] const claim_scripts& scripts_for(char wants) noexcept;

[[nodiscard]] command release_of(const script&, const keys&, std::string_view owner, std::string_view inboxes);

}  // namespace holdfast::redis
