#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/hold.hpp"
#include "sim/client_io.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// The invariants of leases, looked at after every event. (Those of claims are in remote.cpp, of the resource in
/// resource.hpp, of calls and of the end in run.cpp.)
class checker {
 public:
  /// `exclusive`: the faults of this run leave exclusion intact. Where the server loses its state, only fences protect.
  checker(world& w, bool exclusive) : world_(w), exclusive_(exclusive) {}

  class watched;
  watched& watch(std::shared_ptr<core::tenancy>, client_io&);
  void forget(watched&);        ///< its user is done with it
  void forget_all(client_io&);  ///< its process has crashed
  void look();

  class watched {
   public:
    watched(std::shared_ptr<core::tenancy> lease, client_io& where);

   private:
    friend class checker;
    struct hear {
      bool& heard;
      void operator()() const noexcept { heard = true; }
    };
    /// What the holder believes. Asking the lease itself would end it once its deadline is over.
    [[nodiscard]] bool believes() const;
    std::shared_ptr<core::tenancy> lease_;
    client_io& where_;
    instant deadline_;
    bool over_ = false;
    bool heard_ = false;
    std::optional<std::stop_callback<hear>> loss_;
  };

 private:
  world& world_;
  const bool exclusive_;
  std::list<watched> leases_;
  std::map<std::string, std::uint64_t> highest_;
};

}  // namespace holdfast::sim
