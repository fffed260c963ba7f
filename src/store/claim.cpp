#include "store/claim.hpp"

#include "planted.hpp"

namespace holdfast::seam {

instant deadline_after(instant sent, milliseconds ttl) noexcept {
  using namespace std::chrono_literals;
  if (planted(bug::no_margin)) return sent + ttl;
  return sent + ttl - (runtime::span(ttl) / 100 + 2ms);
}

}  // namespace holdfast::seam
