// The findings are complete for any server report and for any key names.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/demand.hpp"
#include "redis/doctor/health_facts.hpp"
#include "redis/doctor/health_rules.hpp"
#include "redis/doctor/stray_keys.hpp"
#include "support/found.hpp"

namespace holdfast {
namespace {

/// Lines of `name value`, as a flat list of names and values.
redis::value settings_in(std::string_view text) {
  redis::value reply{.what = redis::value::kind::list, .number = 0, .text = {}, .items = {}};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    reply.items.push_back(
        {.what = redis::value::kind::text, .number = 0, .text = std::string(text.substr(at, end - at)), .items = {}});
    at = end + 1;
  }
  return reply;
}

void judge_keys(std::string_view text, const char* prefix) {
  redis::stray_keys left(prefix);
  for (const redis::value& key : settings_in(text).items) left.add(key.text, "string", redis::stray_keys::no_end);
  storage::findings found;
  redis::judge(left.facts(false), found);
  test::demand(test::are_whole(found.all()));
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t half = std::min(text.find("\n\n"), text.size());
  storage::findings found;
  redis::judge(redis::facts_about_server({redis::server_info::of_info(text.substr(0, half)),
                                          redis::server_info::of_config(settings_in(text.substr(half)))}),
               found);
  test::demand(test::are_whole(found.all()));
  judge_keys(text, "holdfast:");
  judge_keys(text, "");
  return 0;
}
