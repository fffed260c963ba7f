#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "conformance/wire.hpp"
#include "runtime/guarded.hpp"
#include "storage/claim.hpp"

namespace holdfast::conformance {

/// A client of a store that lives in a process of its own: every call on a claim is made there. Tests can stop that
/// process, end it, and lose what it says.
class process_client final : public storage::backend, private storage::admin {
 public:
  /// What happens on the way to all clients that share it.
  struct weather {
    std::atomic<bool> lose_requests{false}, lose_replies{false};
  };
  process_client(const std::string& url, guarantees promises, std::shared_ptr<const weather>);
  ~process_client() override;  ///< ends the process in order, if it still lives

  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::cell> open_cell(std::string name) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events& events) override { report_to(&events); }
  void close() noexcept override { report_to(nullptr); }
  [[nodiscard]] guarantees promises() const noexcept override { return promises_; }

  void kill() const;  ///< kill -9, and waits until it is gone
  void stop();        ///< until go_on()
  void go_on();

 private:
  class far_claim;
  class far_cell;
  [[nodiscard]] runtime::task<storage::answer<state>> inspect(runtime::io&, std::string name, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> revoke(runtime::io&, std::string name, std::string reason,
                                                                     std::uint64_t fence, limit) override;
  [[nodiscard]] runtime::task<storage::answer<listing>> list(runtime::io&, std::string prefix, std::string after,
                                                             std::size_t most, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> break_lock(runtime::io&, storage::break_request,
                                                                         limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> resize(runtime::io&, std::string name,
                                                                     std::uint32_t whole, limit) override;
  void report_to(storage::backend_events*);
  struct call;
  [[nodiscard]] static bool is(const call&, reply);
  [[nodiscard]] static storage::failure why(const call&);
  [[nodiscard]] static storage::answer<storage::done> done_or_not(const call&);
  runtime::task<runtime::wake> carry(runtime::io&, call&, order_message, std::string text, limit);
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
  std::thread reader_;
};

}  // namespace holdfast::conformance
