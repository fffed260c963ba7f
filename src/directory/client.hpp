#pragma once
#include <memory>
#include <string>
#include <vector>

#include "directory/file_watch.hpp"
#include "directory/folder.hpp"
#include "directory/inbox.hpp"
#include "directory/lock_table.hpp"
#include "directory/sessions.hpp"
#include "runtime/loop.hpp"
#include "storage/claim.hpp"

namespace holdfast::directory {

/// The store "dir:": one machine, many processes, no server. Rows of SQLite say who holds and who waits, the kernel
/// says which processes are alive, and a datagram wakes the next waiter.
class client final : public storage::backend, private storage::admin {
 public:
  /// Throws storage::failure.
  client(const std::string& path, runtime::loop&);
  ~client() override;
  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::cell> open_cell(std::string name) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events&) override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  class claim;
  class cell;
  [[nodiscard]] runtime::task<storage::answer<state>> inspect(runtime::io&, std::string name, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> revoke(runtime::io&, std::string name, std::string reason,
                                                                     std::uint64_t fence, limit) override;
  [[nodiscard]] runtime::task<storage::answer<listing>> list(runtime::io&, std::string prefix, std::string after,
                                                             std::size_t most, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> break_lock(runtime::io&, storage::break_request,
                                                                         limit) override;
  [[nodiscard]] runtime::task<storage::answer<std::vector<finding>>> examine(runtime::io&, limit) override;
  [[nodiscard]] runtime::task<storage::answer<storage::done>> resize(runtime::io&, std::string name,
                                                                     std::uint32_t whole, limit) override;
  runtime::task<storage::answer<storage::done>> send(runtime::io&, session_id to, const revoke_message&, limit);
  void check_files();
  void refresh_files() noexcept;
  void notify(const std::string& name, std::vector<notification>, instant until) noexcept;

  folder folder_;
  sessions sessions_;
  const std::int64_t pid_namespace_;
  std::vector<session_id> ended_;  // earlier sessions that ended without leave()
  runtime::loop& loop_;
  lock_table table_;
  inbox inbox_;
  file_watch file_watch_;
};

}  // namespace holdfast::directory
