#pragma once
#include <memory>
#include <string>
#include <vector>

#include "faults/redis_store.hpp"

namespace holdfast::faults {

/// Several independent servers.
class redlock_servers {
 public:
  explicit redlock_servers(std::size_t many, const std::vector<std::string>& options = {}) {
    for (std::size_t n = 0; n < many; ++n) all_.push_back(std::make_unique<test::redis_server>(options));
  }
  [[nodiscard]] test::redis_server& operator[](std::size_t n) { return *all_[n]; }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

  /// The default options let servers vote although they have just been started.
  [[nodiscard]] std::string url(const std::string& more = "young_nodes=vote&max_ttl=1h") const {
    return url_of("timeout=300ms&" + more);
  }
  [[nodiscard]] std::string url_of(const std::string& options) const {
    std::string paths;
    for (const auto& each : all_) paths.append(paths.empty() ? "" : ",").append(each->socket());
    return "redlock+unix://" + paths + "?" + options;
  }
  /// Returns the number of answering servers at which the name is held.
  [[nodiscard]] std::size_t holding(const std::string& name) const {
    std::size_t many = 0;
    for (const auto& each : all_) {
      if (each->pid() > 0 && !each->ask({"GET", key(name)}).text.empty()) ++many;
    }
    return many;
  }
  [[nodiscard]] static std::string key(const std::string& name) { return "holdfast:{" + name + "}"; }

 private:
  std::vector<std::unique_ptr<test::redis_server>> all_;
};

}  // namespace holdfast::faults
