#include "storage/state.hpp"

namespace holdfast::storage {

void describe(state::party& who, const owner_id& id, const share& has, std::string_view label) {
  who.owner = digits_of(id);
  who.label = label;
  who.permits = has.of_a_lock() ? 0 : has.part;
  who.reads = has == share::reader();
}

}  // namespace holdfast::storage
