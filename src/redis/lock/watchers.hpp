#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "redis/protocol/slots.hpp"
#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"
#include "storage/claim.hpp"

namespace holdfast::redis {

/// Those of this client who wait for a change of a cell, by its key. What a server tells us of one is `~<key>`.
class watchers {
 public:
  static constexpr char mark = '~';

  /// `listened_at` is where it does, as far as is known now.
  void add(const std::string& key, runtime::signal& who, storage::shard listened_at) {
    all_.with([&](auto& all) { all.emplace(key, watcher{&who, slot_of(key), listened_at}); });
  }
  /// Before it dies.
  void remove(const std::string& key, const runtime::signal& who) noexcept {
    all_.with([&](auto& all) {
      auto [at, end] = all.equal_range(key);
      while (at != end && at->second.who != &who) ++at;
      if (at != end) all.erase(at);
    });
  }
  void tell(const std::string& key) noexcept {
    all_.with([&](auto& all) {
      const auto [begin, end] = all.equal_range(key);
      for (auto at = begin; at != end; ++at) at->second.who->set();
    });
  }
  /// To look for themselves, those of whom this is so: bool(slot, listened_at).
  template <class F>
  void wake(F is_concerned) noexcept {
    all_.with([&](auto& all) {
      for (auto& [key, each] : all) {
        if (is_concerned(each.slot, each.listened_at)) each.who->set();
      }
    });
  }

 private:
  struct watcher {
    runtime::signal* who;
    std::uint16_t slot;
    storage::shard listened_at;
  };
  runtime::guarded<std::unordered_multimap<std::string, watcher>> all_;
};

}  // namespace holdfast::redis
