#pragma once
#include "holdfast/error.hpp"

/// Helpers that several sources of this folder share.
namespace holdfast {

constexpr errc fine{};

/// The code of the lock_error that `f` throws, or `fine`.
template <class F>
errc code_of(const F& f) {
  try {
    f();
    return fine;
  } catch (const lock_error& e) {
    return static_cast<errc>(e.code().value());
  }
}

}  // namespace holdfast
