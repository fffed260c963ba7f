#pragma once
#include <atomic>
#include <memory>
#include <utility>

#include "memory/client.hpp"
#include "storage/claim.hpp"

namespace holdfast::test {

/// A backend that knows whether its claims are gone.
class mother final : public storage::backend {
 public:
  struct family {
    std::atomic<int> children{0};
    std::atomic<bool> orphaned{false};
    std::atomic<bool> gone{false};
  };
  explicit mother(std::shared_ptr<family> f) : family_(std::move(f)) {}
  mother(const mother&) = delete;
  mother& operator=(const mother&) = delete;
  ~mother() override {
    family_->orphaned = family_->children > 0;
    family_->gone = true;
  }

  std::unique_ptr<storage::claim> open(storage::claim_spec spec) override {
    return std::make_unique<child>(family_, real_.open(std::move(spec)));
  }
  [[nodiscard]] guarantees promises() const noexcept override { return real_.promises(); }

 private:
  class child final : public storage::claim {
   public:
    child(std::shared_ptr<family> f, std::unique_ptr<storage::claim> real)
        : family_(std::move(f)), real_(std::move(real)) {
      ++family_->children;
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() override {
      if (!family_->gone) real_.reset();
      (void)real_.release();  // NOLINT: its server is gone; leaked, so that the test can report it and go on
      --family_->children;
    }
    runtime::task<storage::answer<storage::grant>> poll(runtime::io& i, limit l) override { return real_->poll(i, l); }
    runtime::task<runtime::wake> wakeup(runtime::io& i, limit l) override { return real_->wakeup(i, l); }
    runtime::task<storage::answer<runtime::instant>> renew(runtime::io& i, storage::milliseconds t, limit l) override {
      return real_->renew(i, t, l);
    }
    runtime::task<storage::answer<storage::done>> release(runtime::io& i, limit l) override {
      return real_->release(i, l);
    }

   private:
    const std::shared_ptr<family> family_;
    std::unique_ptr<storage::claim> real_;
  };

  const std::shared_ptr<family> family_;
  memory::client real_{std::make_shared<memory::server>()};
};

}  // namespace holdfast::test
