#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "holdfast/store.hpp"
#include "memory/server.hpp"

namespace holdfast::test {

/// A memory store that only this test uses, with access to its server.
class memory_service {
 public:
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] store open(const open_options& o = {}) const { return holdfast::open(url_, o); }
  [[nodiscard]] memory::server& server() const noexcept { return *server_; }

  void lose_all_requests() const { server_->set_faults({.lose_requests = 1}); }
  void heal() const { server_->set_faults({}); }

 private:
  static std::string fresh_name() {
    static std::atomic<int> last{0};
    return "test-" + std::to_string(++last);
  }
  const std::string name_ = fresh_name();
  const std::string url_ = "memory:" + name_;
  const std::shared_ptr<memory::server> server_ = memory::server::named(name_);
};

}  // namespace holdfast::test
