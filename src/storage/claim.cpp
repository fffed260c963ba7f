#include "storage/claim.hpp"

#include <utility>

#include "seeded_bugs.hpp"
#include "storage/bundle.hpp"

namespace holdfast::storage {

instant deadline_after(instant sent, milliseconds ttl) noexcept {
  using namespace std::chrono_literals;
  if (seeded(bug::no_margin)) return sent + ttl;
  return sent + ttl - (runtime::span(ttl) / 100 + 2ms);
}

failure only_whole_locks() {
  return failure(errc::unsupported, "this store has neither readers nor permits; use a mutex");
}

task<answer<instant>> claim::downgrade(io&, std::uint64_t, milliseconds, limit) {
  co_return answer<instant>::unknown(only_whole_locks());
}

std::unique_ptr<claim> backend::open_all(std::vector<claim_spec> specs) {
  return std::make_unique<bundle>(*this, std::move(specs));
}

namespace {

class no_cell final : public cell {
 public:
  [[nodiscard]] std::optional<failure> refusal() const override { return why(); }
  task<answer<reading>> get(io&, limit) override { co_return answer<reading>::unknown(why()); }
  task<answer<std::uint64_t>> put(io&, std::uint64_t, change, limit) override {
    co_return answer<std::uint64_t>::unknown(why());
  }
  task<wake> changed(io&, reading, limit) override { co_return wake::signalled; }

 private:
  static failure why() {
    return failure(errc::unsupported,
                   "this store keeps locks, but no numbers: for elections and latches use one server, a cluster or a "
                   "directory; a lock is enough to run a job on one client only");
  }
};

}  // namespace

std::unique_ptr<cell> backend::open_cell(std::string) { return std::make_unique<no_cell>(); }

storage::admin& backend::admin() noexcept {
  static storage::admin unsupported;
  return unsupported;
}

}  // namespace holdfast::storage
