#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/announcement.hpp"
#include "core/engine.hpp"
#include "core/report.hpp"
#include "holdfast/lease.hpp"
#include "holdfast/store.hpp"
#include "runtime/executor.hpp"
#include "runtime/fork.hpp"
#include "runtime/guarded.hpp"
#include "runtime/loop.hpp"
#include "storage/claim.hpp"

namespace holdfast::detail {

/// An open store: the engine and its threads, shared by all handles. Leases, mutexes and pending operations own it; the
/// last owner to be destroyed closes it, on any thread.
class service : public std::enable_shared_from_this<service> {
 public:
  /// Creates the backend. The loop outlives it. May throw storage::failure.
  using maker = std::function<std::unique_ptr<storage::backend>(runtime::loop&)>;
  [[nodiscard]] static store open(std::string url, const maker&, const open_options&);  ///< throws lock_error
  [[nodiscard]] static const std::shared_ptr<service>& of(const store& s) noexcept { return s.service_; }
  ~service();

  /// Returns an empty optional if the lock is busy or the caller was stopped. With a limit that has passed it asks the
  /// store once. Throws lock_error.
  [[nodiscard]] std::optional<lease> acquire(core::request);
  [[nodiscard]] bool renew(const std::shared_ptr<core::lease_state>&, std::chrono::milliseconds ttl);
  /// Returns false if the lease was lost.
  [[nodiscard]] bool downgrade(const lease&);
  void resize(std::string_view name, std::uint32_t permits);
  /// A cell, for a caller of this name. Throws lock_error where nothing can run.
  [[nodiscard]] core::reliable_cell open_cell(std::string cell, std::string_view name);
  /// Announces in the background who has this lease, until it ends. Throws lock_error where nothing can run.
  [[nodiscard]] std::shared_ptr<core::announcement> announce(const lease&, std::string cell, std::string label);
  [[nodiscard]] state inspect(std::string_view name, const limit&);
  [[nodiscard]] std::vector<finding> examine();
  [[nodiscard]] bool revoke(std::string_view name, std::string_view reason,
                            std::uint64_t fence);  ///< false if the lock is not held
  [[nodiscard]] listing list(std::string_view prefix, std::string_view after);
  [[nodiscard]] bool break_lock(storage::break_request);  ///< false if no holder matches
  released release(const std::shared_ptr<core::lease_state>&) noexcept;
  void leak(std::shared_ptr<core::lease_state>) noexcept;  ///< in a fork: see ~lease

  /// Like the calls above, but on the loop, for operations.
  [[nodiscard]] runtime::task<std::optional<lease>> acquire_on_loop(core::request);
  [[nodiscard]] runtime::task<released> release_on_loop(std::shared_ptr<core::lease_state>);
  /// Runs a task on the loop, in the background. Throws lock_error where nothing can run.
  void spawn(std::string_view name, runtime::task<void>);

  /// False on the threads of the store, which must not block.
  [[nodiscard]] bool may_wait() const noexcept { return !runtime::executor::runs_here() && !loop_.is_this_thread(); }
  void close() noexcept;
  /// True in a fork: our threads do not exist here, and threads of the parent may have held our mutexes. Touch nothing.
  [[nodiscard]] bool forked() const noexcept { return generation_ != runtime::fork_generation(); }
  void check_not_forked(std::string_view name) const;                            ///< throws lock_error(forked)
  [[noreturn]] void fail(const storage::failure&, std::string_view name) const;  ///< throws lock_error
  /// Sends a warning to the observer.
  void warn(std::string_view name, std::string_view text) noexcept;
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] storage::backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] runtime::executor& executor() noexcept { return executor_; }
  [[nodiscard]] runtime::io& loop() noexcept { return loop_; }

 private:
  service(std::string url, const maker&, const open_options&);
  static void retire(service*) noexcept;
  /// Runs a call of the engine on this thread. Throws lock_error if the process has forked or the store fails.
  template <class Call>
  auto ask(std::string_view name, Call);
  [[nodiscard]] std::optional<lease> lease_of(core::outcome, std::string_view name);
  runtime::task<void> release_claim_on_loop(std::shared_ptr<core::lease_state>, limit);
  void start(std::string_view name);

  const unsigned generation_ = runtime::fork_generation();
  const std::string url_;
  const core::reporter report_;
  // The order matters: the engine's tasks run on the loop and post to the executor, whose queued work may own claims.
  runtime::loop loop_;
  const std::unique_ptr<storage::backend> backend_;
  runtime::executor executor_;
  core::engine engine_;
  runtime::guarded<std::vector<std::shared_ptr<core::lease_state>>> leaked_;
  service* next_leaked_ = nullptr;
};

}  // namespace holdfast::detail
