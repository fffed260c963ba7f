#include "storage/admin.hpp"

#include "storage/claim.hpp"

namespace holdfast::storage {

namespace {

template <class T>
task<answer<T>> unsupported(const char* why) {
  co_return answer<T>::unknown(failure(errc::unsupported, why));
}

}  // namespace

task<answer<state>> admin::inspect(io&, std::string, limit) {
  return unsupported<state>("this store does not tell who holds a lock");
}

task<answer<listing>> admin::list(io&, std::string, std::string, std::size_t, limit) {
  return unsupported<listing>("this store does not tell which names are in use");
}

task<answer<done>> admin::revoke(io&, std::string, std::string, std::uint64_t, limit) {
  return unsupported<done>("this store cannot ask holders to let go");
}

task<answer<done>> admin::break_lock(io&, break_request, limit) {
  return unsupported<done>("this store takes no lock from its holder");
}

task<answer<done>> admin::resize(io&, std::string, std::uint32_t, limit) {
  co_return answer<done>::unknown(only_whole_locks());
}

task<answer<std::vector<finding>>> admin::examine(io&, limit) {
  co_return answer<std::vector<finding>>::yes(std::vector<finding>());
}

}  // namespace holdfast::storage
