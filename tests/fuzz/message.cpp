// Any message is rejected or parsed within its bounds, and formatting and parsing it again gives the same message.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/demand.hpp"
#include "redis/lock/inbox.hpp"
#include "redis/protocol/owner.hpp"
#include "redis/protocol/script.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  using test::demand;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto m = redis::message::parse(text);
  if (const auto label = redis::label_in(text)) demand(text.ends_with(*label));
  if (!m || m->what != redis::message::kind::grant) return 0;
  demand(m->fence <= static_cast<std::uint64_t>(redis::largest_number));
  demand(m->server_time >= 0 && m->server_time <= redis::largest_number);
  demand(text.ends_with(std::string(m->owner).append(m->key)));
  const std::string again = std::to_string(m->fence) + " " + std::to_string(m->server_time) + " " +
                            std::to_string(m->owner.size()) + " " + std::string(m->owner).append(m->key);
  const auto same = redis::message::parse(again);
  demand(same && same->fence == m->fence && same->server_time == m->server_time && same->owner == m->owner &&
         same->key == m->key);
  return 0;
}
