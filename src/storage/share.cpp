#include "storage/share.hpp"

#include <string>

namespace holdfast::storage {

namespace {

std::string kind_of(std::uint32_t whole) {
  return whole == share::lock ? "a lock" : "a semaphore of " + std::to_string(whole);
}

}  // namespace

failure disagreement(std::uint32_t there, std::uint32_t wanted) {
  return failure(errc::foreign, "the name is in use as " + kind_of(there) + ", not as " + kind_of(wanted));
}

}  // namespace holdfast::storage
