#include "directory/letter.hpp"

#include <cstring>

namespace holdfast::directory {

namespace {

constexpr std::uint64_t mark_of_asking = 0x6f67'2074'656c'2021;
constexpr std::uint64_t mark_of_taking = 0x656e'6f67'2073'6921;

}  // namespace

std::string letter::packed() const {
  const head h{taken ? mark_of_taking : mark_of_asking, fence, static_cast<std::uint32_t>(reason.size()),
               static_cast<std::uint32_t>(owners.size())};
  std::string bytes(sizeof h, '\0');
  std::memcpy(bytes.data(), &h, sizeof h);
  bytes.append(reason);
  for (const owner_bytes& each : owners) bytes.append(each.data(), each.size());
  return bytes;
}

std::optional<letter> letter::parse(std::string_view bytes) {
  head h{};
  if (bytes.size() < sizeof h) return std::nullopt;
  std::memcpy(&h, bytes.data(), sizeof h);
  bytes.remove_prefix(sizeof h);
  const bool taken = h.mark == mark_of_taking;
  if ((!taken && h.mark != mark_of_asking) || h.reason > longest_reason || h.owners > most_owners) return std::nullopt;
  if (bytes.size() != h.reason + h.owners * sizeof(owner_bytes)) return std::nullopt;
  letter is{.fence = h.fence, .reason = std::string(bytes.substr(0, h.reason)), .owners = {}, .taken = taken};
  is.owners.resize(h.owners);
  std::memcpy(is.owners.data(), bytes.data() + h.reason, h.owners * sizeof(owner_bytes));
  return is;
}

}  // namespace holdfast::directory
