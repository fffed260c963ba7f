#pragma once
#include <memory>
#include <vector>

#include "memory/server.hpp"
#include "storage/claim.hpp"

namespace holdfast::memory {

/// The store "memory:": for tests, and for programs that want one API with and without a lock service.
class client final : public storage::backend, private storage::admin {
 public:
  explicit client(std::shared_ptr<server>) noexcept;
  ~client() override { close(); }
  [[nodiscard]] std::unique_ptr<storage::claim> open(storage::claim_spec) override;
  [[nodiscard]] std::unique_ptr<storage::cell> open_cell(std::string name) override;
  [[nodiscard]] storage::admin& admin() noexcept override { return *this; }
  void start(storage::backend_events&) override;
  void close() noexcept override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  [[nodiscard]] runtime::task<answer<storage::done>> resize(runtime::io&, std::string name, std::uint32_t whole,
                                                            limit) override;
  [[nodiscard]] runtime::task<answer<state>> inspect(runtime::io&, std::string name, limit) override;
  [[nodiscard]] runtime::task<answer<storage::done>> revoke(runtime::io&, std::string name, std::string reason,
                                                            std::uint64_t fence, limit) override;
  [[nodiscard]] runtime::task<answer<listing>> list(runtime::io&, std::string prefix, std::string after,
                                                    std::size_t most, limit) override;
  [[nodiscard]] runtime::task<answer<storage::done>> break_lock(runtime::io&, storage::break_request, limit) override;
  [[nodiscard]] runtime::task<answer<std::vector<finding>>> examine(runtime::io&, limit) override;

  std::shared_ptr<server> server_;
  storage::backend_events* events_ = nullptr;
};

}  // namespace holdfast::memory
