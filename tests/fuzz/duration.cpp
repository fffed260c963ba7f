// Any text is rejected or is a duration within bounds that, written in milliseconds, is parsed as the same value.
#include "text/words.hpp"

#include <cstdint>
#include <string>

#include "fuzz/demand.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const auto read = cli::parse_duration({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  test::demand(read->count() >= 0 && *read <= std::chrono::hours(10 * 365 * 24));
  test::demand(cli::parse_duration(std::to_string(read->count()) + "ms") == read);
  return 0;
}
