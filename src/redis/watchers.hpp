#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/guarded.hpp"
#include "runtime/signal.hpp"

namespace holdfast::redis {

/// Those of this client who wait for a change of a cell, by its key. What a server tells us of one is `~<key>`.
class watchers {
 public:
  static constexpr char mark = '~';

  void add(const std::string& key, runtime::signal& who) {
    all_.with([&](auto& all) { all.emplace(key, &who); });
  }
  /// Before it dies.
  void remove(const std::string& key, const runtime::signal& who) noexcept {
    all_.with([&](auto& all) {
      auto [at, end] = all.equal_range(key);
      while (at != end && at->second != &who) ++at;
      if (at != end) all.erase(at);
    });
  }
  void tell(const std::string& key) noexcept {
    all_.with([&](auto& all) {
      const auto [begin, end] = all.equal_range(key);
      for (auto at = begin; at != end; ++at) at->second->set();
    });
  }
  void tell_all() noexcept {  ///< to look for themselves
    all_.with([](auto& all) {
      for (auto& [key, who] : all) who->set();
    });
  }

 private:
  runtime::guarded<std::unordered_multimap<std::string, runtime::signal*>> all_;
};

}  // namespace holdfast::redis
