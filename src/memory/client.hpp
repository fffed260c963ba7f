#pragma once
#include <memory>

#include "memory/server.hpp"
#include "store/claim.hpp"

namespace holdfast::memory {

/// The store "memory:": for tests, and for programs that want one API with and without a lock service.
class client final : public seam::backend {
 public:
  explicit client(std::shared_ptr<server>) noexcept;
  [[nodiscard]] std::unique_ptr<seam::claim> open(seam::claim_spec) override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  std::shared_ptr<server> server_;
};

}  // namespace holdfast::memory
