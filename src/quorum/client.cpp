#include "quorum/client.hpp"

#include <utility>

#include "quorum/claim.hpp"

namespace holdfast::quorum {

client::client(std::vector<std::unique_ptr<storage::voter>> voters, settings s, storage::io& loop)
    : settings_(std::move(s)), all_(std::move(voters), loop) {}

std::unique_ptr<storage::claim> client::open(storage::claim_spec spec) {
  return std::make_unique<claim>(*this, std::move(spec));
}

void client::start(storage::backend_events& events) {
  for (const auto& each : all_.voters()) each->behind().start(events);
}

void client::close() noexcept {
  all_.close();
  for (const auto& each : all_.voters()) each->behind().close();
}

guarantees client::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = false, .survives_restart = false, .notices_death_at_once = false};
}

}  // namespace holdfast::quorum
