// A header is rejected or equals the formatted fence.
#include "holdfast/fence_header.hpp"

#include "fuzz/demand.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fence = parse_fence(text);
  if (fence) test::demand(*fence != 0 && format_fence(*fence) == text);
  return 0;
}
