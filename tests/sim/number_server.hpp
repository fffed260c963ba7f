#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/signal.hpp"
#include "sim/client_io.hpp"
#include "sim/network.hpp"
#include "sim/world.hpp"
#include "storage/cell_record.hpp"

namespace holdfast::sim {

/// Cells at a server behind the faulty network, and the invariants that they keep there.
class number_server {
 public:
  number_server(world& w, network& n, drifting_clock clock) : world_(w), network_(n), clock_(clock) {}

  [[nodiscard]] std::unique_ptr<storage::cell> open(client_io& loop, std::string name);
  /// The content, for checkers.
  [[nodiscard]] storage::reading look(const std::string& name);

 private:
  class remote;
  struct watcher {
    runtime::signal told;
    bool over = false;  // its wait has ended
  };
  struct entry {
    std::optional<storage::cell_record> record;
    std::vector<std::pair<client_io*, std::shared_ptr<watcher>>> watchers;
    std::set<std::pair<std::uint64_t, std::uint64_t>> made;
    std::uint64_t highest = 0;
  };
  [[nodiscard]] std::int64_t now() const noexcept;
  [[nodiscard]] storage::answer<std::uint64_t> put(const std::string& name, std::uint64_t seen, const storage::change&);
  [[nodiscard]] bool watch(const std::string& name, const storage::reading& seen, client_io&, std::shared_ptr<watcher>);

  world& world_;
  network& network_;
  const drifting_clock clock_;
  std::map<std::string, entry> named_;
};

}  // namespace holdfast::sim
