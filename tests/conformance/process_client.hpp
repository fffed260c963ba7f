#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "conformance/wire.hpp"
#include "runtime/guarded.hpp"
#include "storage/claim.hpp"

namespace holdfast::conformance {

/// A client of a store that lives in a process of its own, where every call is made. Tests can stop or kill that
/// process, and lose its requests and replies.
class process_client final : public storage::backend {
 public:
  /// The faults on the connection of all clients that share it.
  struct weather {
    std::atomic<bool> lose_requests{false}, lose_replies{false};
  };
  process_client(const std::string& url, guarantees promises, std::shared_ptr<const weather>);
  ~process_client() override;  ///< ends the process in order, if it still lives

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::cell> open_cell(std::string name) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return admin_; }
  void start(storage::backend_events& events) override { report_to(&events); }
  void close() noexcept override { report_to(nullptr); }
  [[nodiscard]] guarantees promises() const noexcept override { return promises_; }

  void kill() const;  ///< kill -9, and waits until it is gone
  void stop();        ///< until go_on()
  void go_on();

 private:
  class far_target;
  class far_claim;
  class far_cell;
  class far_admin final : public storage::admin {
   public:
    explicit far_admin(process_client& c) : client_(c) {}
    runtime::task<storage::answer<state>> inspect(runtime::io&, std::string name, limit) override;
    runtime::task<storage::answer<listing>> list(runtime::io&, std::string prefix, std::string after, std::size_t most,
                                                 limit) override;
    runtime::task<storage::answer<storage::done>> revoke(runtime::io&, std::string name, std::string reason,
                                                         std::uint64_t fence, limit) override;
    runtime::task<storage::answer<storage::done>> break_lock(runtime::io&, storage::break_request, limit) override;
    runtime::task<storage::answer<storage::done>> resize(runtime::io&, std::string name, std::uint32_t whole,
                                                         limit) override;

   private:
    process_client& client_;
  };
  struct call;
  void report_to(storage::backend_events*);
  /// Sends the request, and waits for its reply or for the limit; then ends the wait of the other side.
  runtime::task<runtime::wake> carry(runtime::io&, call&, request, std::string arguments, limit);
  template <class T>
  runtime::task<storage::answer<T>> ask(runtime::io&, limit, request_kind, std::uint64_t target, std::string arguments);
  runtime::task<runtime::wake> wait_there(runtime::io&, limit, request_kind, std::uint64_t target,
                                          std::string arguments);
  void read_replies();

  const guarantees promises_;
  const std::shared_ptr<const weather> weather_;
  int socket_ = -1;
  pid_t pid_ = -1;
  bool stopped_ = false;
  std::atomic<std::uint64_t> last_{0};
  struct calls {
    std::map<std::uint64_t, call*> open;
    bool over = false;
  };
  runtime::guarded<calls> calls_;
  runtime::guarded<storage::backend_events*> events_{nullptr};
  far_admin admin_{*this};
  std::thread reader_;
};

}  // namespace holdfast::conformance
