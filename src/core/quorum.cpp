#include "core/quorum.hpp"

#include <utility>

#include "core/quorum_place.hpp"

namespace holdfast::core {

quorum::quorum(std::vector<std::unique_ptr<storage::voter>> voters, settings s, storage::io& home)
    : settings_(std::move(s)), all_(std::move(voters), home) {}

std::unique_ptr<storage::claim> quorum::open(storage::claim_spec spec) {
  return std::make_unique<place>(*this, std::move(spec));
}

void quorum::when_in_doubt(std::function<void(storage::shard)> verify) {
  for (const auto& each : all_.voters()) each->behind().when_in_doubt(verify);
}

void quorum::when_back(std::function<void()> back) {
  for (const auto& each : all_.voters()) each->behind().when_back(back);
}

void quorum::when_warned(std::function<void(std::string_view)> warn) {
  for (const auto& each : all_.voters()) each->behind().when_warned(warn);
}

void quorum::when_asked(std::function<void(storage::asking)> asked) {
  for (const auto& each : all_.voters()) each->behind().when_asked(asked);
}

void quorum::close() noexcept {
  all_.close();
  for (const auto& each : all_.voters()) each->behind().close();
}

guarantees quorum::promises() const noexcept {
  return {.by = guarantees::exclusion::lease, .fair = false, .survives_restart = false, .notices_death_at_once = false};
}

}  // namespace holdfast::core
