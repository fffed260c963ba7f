#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "redis/protocol/slots.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// The tasks of this client that wait for a change of a cell or a lock, by its key.
class watchers {
  struct watcher {
    runtime::signal* signal;
    std::uint16_t slot;
    storage::shard listened_at;
  };
  using table = std::multimap<std::string, watcher>;  // its iterators stay valid

 public:
  /// A task waits for as long as its entry exists.
  class entry {
   public:
    /// `listened_at` is where the key lies, as far as is known now.
    entry(watchers& all, const std::string& key, runtime::signal& signal, storage::shard listened_at)
        : all_(all), at_(all_.all_.with([&](table& those) {
            return those.emplace(key, watcher{&signal, slot_of(key), listened_at});
          })) {}
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() {
      all_.all_.with([&](table& all) { all.erase(at_); });
    }

   private:
    watchers& all_;
    const table::iterator at_;
  };

  void notify(const std::string& key) noexcept {
    all_.with([&](table& all) {
      const auto [begin, end] = all.equal_range(key);
      for (auto at = begin; at != end; ++at) at->second.signal->set();
    });
  }
  /// Wakes those for which bool(slot, listened_at) is true, so that they read the key again.
  template <class F>
  void wake(F is_concerned) noexcept {
    all_.with([&](table& all) {
      for (auto& [key, each] : all) {
        if (is_concerned(each.slot, each.listened_at)) each.signal->set();
      }
    });
  }

 private:
  runtime::guarded<table> all_;
};

}  // namespace holdfast::redis
