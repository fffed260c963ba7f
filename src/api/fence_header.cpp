#include "holdfast/fence_header.hpp"

#include <charconv>
#include <memory>

namespace holdfast {

std::string format_fence(std::uint64_t fence) { return std::to_string(fence); }

std::optional<std::uint64_t> parse_fence(std::string_view text) noexcept {
  if (text.empty() || text.front() == '0') return std::nullopt;
  std::uint64_t fence = 0;
  const char* const begin = std::to_address(text.begin());
  const char* const end = std::to_address(text.end());
  const auto [at, why] = std::from_chars(begin, end, fence);
  if (why != std::errc() || at != end) return std::nullopt;
  return fence;
}

}  // namespace holdfast
