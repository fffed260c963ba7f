#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/holding.hpp"
#include "sim/client_io.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// Checks the invariants of leases after every event. (Those of claims are in watchful.cpp, of the resource in
/// resource.hpp, of calls in users.cpp, of the end in run.cpp.)
class checker {
 public:
  /// `exclusive`: the faults of this run leave exclusion intact. Where the server loses its state, only fences protect.
  /// `permits`: of the semaphore, when there are most.
  checker(world& w, bool exclusive, std::uint32_t permits) : world_(w), exclusive_(exclusive), permits_(permits) {}

  class watched;
  watched& watch(std::shared_ptr<core::lease_state>, const std::string& name, client_io&);
  void forget(watched&);        ///< its user no longer uses it
  void forget_all(client_io&);  ///< its process has crashed
  void look();

  class watched {
   public:
    watched(std::shared_ptr<core::lease_state> lease, const std::string& name, client_io& where);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }
    /// The share of the name that the holder believes it holds.
    [[nodiscard]] const storage::share& part() const noexcept { return part_; }
    /// A writer asks to be a reader.
    void become_reader() noexcept { part_ = storage::share::reader(); }
    /// The holder's view. A query of the lease itself would end it once its deadline has passed.
    [[nodiscard]] bool believes() const;

   private:
    friend class checker;
    struct hear {
      bool& heard;
      void operator()() const noexcept { heard = true; }
    };
    std::shared_ptr<core::lease_state> lease_;
    const std::string name_;  // one of its names, if it has several
    const std::uint64_t fence_;
    client_io& where_;
    storage::share part_;
    instant deadline_;
    bool over_ = false;
    bool heard_ = false;
    std::optional<std::stop_callback<hear>> loss_;
  };

 private:
  void check_fence(const watched&);
  void check_company(std::list<watched>::const_iterator);
  void keep_closed(const watched&);
  world& world_;
  const bool exclusive_;
  const std::uint32_t permits_;
  std::list<watched> leases_;
  std::map<std::string, std::uint64_t> highest_;
  std::map<std::string, real> closed_until_;  // by lock delays
};

}  // namespace holdfast::sim
