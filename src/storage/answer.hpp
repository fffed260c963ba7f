#pragma once
#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"

namespace holdfast::storage {

/// What comes with a store's *no*: the holder, as far as the store knows.
struct busy {
  std::string holder{};
  bool asked = true;  ///< false: answered without a request to the store
};

/// Why an answer is unknown. Also thrown by functions that return no answer.
struct failure : std::exception {
  failure(errc code_, std::string text_) : code(code_), text(std::move(text_)) {}
  /// A failure without a reported error: no reply came in time.
  static failure late(std::string text) {
    failure why(errc::unreachable, std::move(text));
    why.is_late = true;
    return why;
  }
  errc code;
  std::string text;             ///< the server's own words, without secrets
  bool left_to_caller = false;  ///< the store has retried enough: the caller decides whether to ask again
  bool is_late = false;         ///< no reply came in time, and no error was reported

  [[nodiscard]] const char* what() const noexcept override { return text.c_str(); }

  /// Returns true if the call must not be repeated: the store did answer, or it leaves that to the caller.
  [[nodiscard]] bool permanent() const noexcept {
    return left_to_caller || (code != errc::unreachable && code != errc::not_ready);
  }
};

/// The result of a remote step. *Unknown* is never taken for *no* (that leaks locks) nor for *yes* (that
/// breaks exclusion). A class, not an aggregate: see tests/gcc12.
template <class T>
class [[nodiscard]] answer {
 public:
  static answer yes(T value) { return answer(std::in_place_index<0>, std::move(value)); }
  static answer no(busy who = {}) { return answer(std::in_place_index<1>, std::move(who)); }
  static answer unknown(failure why) { return answer(std::in_place_index<2>, std::move(why)); }

  [[nodiscard]] bool is_yes() const noexcept { return what_.index() == 0; }
  [[nodiscard]] bool is_no() const noexcept { return what_.index() == 1; }
  [[nodiscard]] bool is_unknown() const noexcept { return what_.index() == 2; }

  [[nodiscard]] T& value() { return std::get<0>(what_); }               ///< after a yes
  [[nodiscard]] const busy& who() const { return std::get<1>(what_); }  ///< after a no
  [[nodiscard]] failure& why() { return std::get<2>(what_); }           ///< after an unknown

 private:
  template <std::size_t I, class V>
  answer(std::in_place_index_t<I> kind, V value) : what_(kind, std::move(value)) {}
  std::variant<T, busy, failure> what_;
};

/// The value of a yes that carries none.
struct done {};

}  // namespace holdfast::storage
