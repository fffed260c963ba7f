#pragma once
#include <stop_token>
#include <utility>

#include "core/report.hpp"
#include "core/silence.hpp"
#include "runtime/executor.hpp"
#include "runtime/io.hpp"
#include "runtime/task_group.hpp"
#include "storage/claim.hpp"

namespace holdfast::core {

/// What the parts of an engine share.
class environment {
 public:
  environment(storage::backend& b, runtime::io& l, runtime::executor& u, reporter r, runtime::span p)
      : backend(b),
        loop(l),
        user(u),
        report(std::move(r)),
        patience(p),
        store_expires(b.promises().by == guarantees::exclusion::lease),
        tasks(l) {}
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

  /// Sends the event to the observer, on the executor.
  void tell(const event& e) const noexcept { report.tell(user, e); }

  storage::backend& backend;
  runtime::io& loop;
  runtime::executor& user;
  const reporter report;
  const runtime::span patience;  ///< a store that does not answer for this long is an error
  const bool store_expires;      ///< the store drops a claim that is not renewed
  silence store_silence;
  std::stop_source closing;   ///< every waiter leaves with errc::closed
  std::stop_source ending;    ///< no leases are left: the background tasks end
  runtime::task_group tasks;  ///< in the background, on the loop
};

}  // namespace holdfast::core
