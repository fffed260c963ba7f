#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "sim/client_io.hpp"
#include "sim/lease_server.hpp"
#include "sim/network.hpp"
#include "storage/claim.hpp"

namespace holdfast::sim {

/// A store for the simulator: a client's side of the lease server, over the bad network.
class remote final : public storage::backend, private storage::admin {
 public:
  remote(network&, lease_server&, client_io& loop, int id);

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  [[nodiscard]] guarantees promises() const noexcept override;

  /// The process is gone: no message reaches it or comes from it any more.
  void crash() noexcept { crashed_ = true; }
  void pushed(storage::owner_id);  ///< from the server
  [[nodiscard]] std::size_t waiting() const noexcept { return calls_.size() + inbox_.size(); }

 private:
  class place;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> resize(runtime::io&, std::string name,
                                                                     std::uint32_t whole, limit) override;
  struct call {
    runtime::signal arrived;
    std::optional<lease_reply> got;
  };
  /// Returns nothing if no answer comes within the limit, or before the connection is given up.
  runtime::task<std::optional<lease_reply>> ask(runtime::io&, demand, limit);

  network& network_;
  lease_server& server_;
  client_io& loop_;
  const int id_;
  bool crashed_ = false;
  std::uint64_t last_call_ = 0;
  std::map<std::uint64_t, call*> calls_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, runtime::signal*> inbox_;
};

}  // namespace holdfast::sim
