// Any bytes are decoded safely, to the same values however they are split, and decoding the encoded values gives the
// same values again.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/demand.hpp"
#include "redis/protocol/codec.hpp"
#include "support/replies.hpp"

namespace holdfast {
namespace {

using redis::value;

std::string encoded(const value& v) {
  const auto sized = [](char type, const std::string& text) {
    return type + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  };
  switch (v.what) {
    case value::kind::nil: return "_\r\n";
    case value::kind::integer: return ":" + std::to_string(v.number) + "\r\n";
    case value::kind::text: return sized('$', v.text);
    case value::kind::error: return sized('!', v.text);
    case value::kind::list:
    case value::kind::push: break;
  }
  std::string bytes = (v.is(value::kind::push) ? ">" : "*") + std::to_string(v.items.size()) + "\r\n";
  for (const value& item : v.items) bytes += encoded(item);
  return bytes;
}

/// Splits the input into pieces whose sizes depend on the seed.
std::vector<std::string_view> split(std::string_view bytes, unsigned seed) {
  std::vector<std::string_view> pieces;
  while (!bytes.empty()) {
    seed = seed * 1'103'515'245u + 12'345u;
    const std::size_t size = 1 + (seed >> 16) % ((seed & 1u) != 0 ? 3 : 40);
    pieces.push_back(bytes.substr(0, size));
    bytes.remove_prefix(pieces.back().size());
  }
  return pieces;
}

void check_round_trip(std::string_view bytes) {
  redis::decoder d;
  d.feed(bytes);
  try {
    while (const auto v = d.next()) {
      test::demand(test::decoded(encoded(*v)) == std::vector{test::shown(*v)});
    }
  } catch (const redis::malformed&) {
    try {
      (void)d.next();
      test::demand(false);  // a malformed stream must stay malformed
    } catch (const redis::malformed&) {
    }
  }
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> whole = test::decoded(bytes);
  test::demand(test::decoded(split(bytes, data[0])) == whole);
  check_round_trip(bytes);
  return 0;
}
