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
#include "store/claim.hpp"

namespace holdfast::conformance {

/// A client of a store that lives in a process of its own: every call on a claim is made there. Tests can stop that
/// process, end it, and lose what it says.
class process_client final : public seam::backend {
 public:
  /// What happens on the way to all clients that share it.
  struct weather {
    std::atomic<bool> lose_requests{false}, lose_replies{false};
  };
  process_client(const std::string& url, guarantees promises, std::shared_ptr<const weather>);
  ~process_client() override;  ///< ends the process in order, if it still lives

  [[nodiscard]] std::unique_ptr<seam::claim> open(seam::claim_spec) override;
  [[nodiscard]] guarantees promises() const noexcept override { return promises_; }

  void kill() const;  ///< kill -9, and waits until it is gone
  void stop();        ///< until go_on()
  void go_on();

 private:
  class far_claim;
  struct call;
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
  std::thread reader_;
};

}  // namespace holdfast::conformance
