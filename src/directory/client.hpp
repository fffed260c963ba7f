#pragma once
#include <memory>
#include <string>
#include <vector>

#include "directory/folder.hpp"
#include "directory/inbox.hpp"
#include "directory/ledger.hpp"
#include "directory/lookout.hpp"
#include "directory/sessions.hpp"
#include "runtime/loop.hpp"
#include "storage/claim.hpp"

namespace holdfast::directory {

/// The store "dir:": one machine, many processes, no server. Rows of SQLite say who holds and who waits, the kernel
/// says who lives, and a datagram wakes whoever is next.
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
  class place;
  class number;
  class in_inbox;
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
  runtime::task<storage::answer<storage::done>> post(runtime::io&, session_id to, const letter&, limit);
  void check_files();
  void refresh_files() noexcept;
  void summon(const std::string& name, std::vector<summons>, instant until) noexcept;

  folder folder_;
  sessions sessions_;
  const std::int64_t pid_namespace_;
  std::vector<session_id> gone_;  // before us, without a word
  runtime::loop& loop_;
  ledger ledger_;
  inbox inbox_;
  lookout lookout_;
};

}  // namespace holdfast::directory
