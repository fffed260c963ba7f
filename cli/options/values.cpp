#include "options/values.hpp"

#include <fcntl.h>

#include <charconv>
#include <cstdlib>
#include <limits>

namespace holdfast::cli {

std::string open_descriptor(const std::string& text) {
  char* end = nullptr;
  const long long fd = std::strtoll(text.c_str(), &end, 0);  // as the parser reads numbers
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  const bool is_open =
      is_number && fd >= 0 && fd <= std::numeric_limits<int>::max() && ::fcntl(static_cast<int>(fd), F_GETFD) >= 0;
  return is_open ? "" : "'" + text + "' is no open file descriptor";
}

value_reader fence_reader(std::uint64_t& into) {
  return [&into](const std::string& text) -> std::string {
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), into);
    const bool is_fence = why == std::errc() && end == text.data() + text.size() && into > 0;
    return is_fence ? "" : "'" + text + "' is no fence; holdfast show tells it";
  };
}

}  // namespace holdfast::cli
