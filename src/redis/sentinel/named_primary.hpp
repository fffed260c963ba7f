#pragma once
#include <cstdint>

#include "net/url.hpp"
#include "runtime/clock.hpp"

namespace holdfast::redis {

/// Where the primary is, of all that its sentinels say. They number their changes: the highest epoch counts, so that
/// one of them that is behind leads nobody back. No I/O.
class named_primary {
 public:
  using place = net::url::place;
  struct word {
    place at;
    std::int64_t epoch = 0;
    /// No sentinel names it yet. But one that names another in this epoch has chosen it, and it says itself that it
    /// leads.
    bool promoted = false;
  };

  /// For so long a word counts that nobody repeats: then they may have begun to count anew.
  explicit named_primary(runtime::span lasts) noexcept : lasts_(lasts) {}

  /// True: it is another than before.
  [[nodiscard]] bool hear(word, runtime::instant now);
  /// It cannot be used. True: it was only promoted, and whatever they say next counts.
  [[nodiscard]] bool doubt(const place&) noexcept;
  /// No host: nobody has said anything.
  [[nodiscard]] const place& at() const noexcept { return known_.at; }

 private:
  const runtime::span lasts_;
  word known_{.at = {}, .epoch = -1};
  runtime::instant heard_{};
};

}  // namespace holdfast::redis
