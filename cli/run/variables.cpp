#include "run/variables.hpp"

#include <string>

namespace holdfast::cli {

environment variables(const run_options& o, const store& in, const lease& held) {
  const std::string prefix = o.env_prefix + "_";
  std::string names, fences;
  for (const std::string& name : o.hold.names) {
    const bool first = name == o.hold.names.front();
    names += (names.empty() ? "" : "\n") + name;
    fences += (fences.empty() ? "" : "\n") + std::to_string(first ? held.fence() : held.fence(name));
  }
  std::optional<std::string> permits;
  if (o.hold.permits) permits = std::to_string(o.hold.permits->taken) + "/" + std::to_string(o.hold.permits->all);
  std::optional<std::string> ttl;
  if (in.promises().by == guarantees::exclusion::lease) ttl = std::to_string(o.hold.ttl.count());
  return {{prefix + "NAME", o.hold.names.front()},
          {prefix + "FENCE", std::to_string(held.fence())},
          {prefix + "NAMES", names},
          {prefix + "FENCES", fences},
          {prefix + "PERMITS", permits},
          {prefix + "MODE", permits         ? "permits"
                            : o.hold.shared ? "shared"
                                            : "lock"},
          {prefix + "TTL_MS", ttl},
          {prefix + "OWNER", held.owner()},
          {prefix + "STORE", in.url()},
          {prefix + "LOST_WHY", std::nullopt}};
}

}  // namespace holdfast::cli
