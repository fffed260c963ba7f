#pragma once
#include <string>
#include <utility>
#include <vector>

#include "storage/claim.hpp"

namespace holdfast::test {

/// Passes the calls of an operator on to another store.
class forwarding_admin : public storage::admin {
 public:
  explicit forwarding_admin(storage::backend& to) : to_(to) {}
  runtime::task<storage::answer<state>> inspect(runtime::io& i, std::string name, limit l) override {
    return to_.admin().inspect(i, std::move(name), std::move(l));
  }
  runtime::task<storage::answer<listing>> list(runtime::io& i, std::string prefix, std::string after, std::size_t most,
                                               limit l) override {
    return to_.admin().list(i, std::move(prefix), std::move(after), most, std::move(l));
  }
  runtime::task<storage::answer<storage::done>> revoke(runtime::io& i, std::string name, std::string reason,
                                                       std::uint64_t fence, limit l) override {
    return to_.admin().revoke(i, std::move(name), std::move(reason), fence, std::move(l));
  }
  runtime::task<storage::answer<storage::done>> break_lock(runtime::io& i, storage::break_request what,
                                                           limit l) override {
    return to_.admin().break_lock(i, std::move(what), std::move(l));
  }
  runtime::task<storage::answer<storage::done>> resize(runtime::io& i, std::string name, std::uint32_t whole,
                                                       limit l) override {
    return to_.admin().resize(i, std::move(name), whole, std::move(l));
  }
  runtime::task<storage::answer<std::vector<finding>>> examine(runtime::io& i, limit l) override {
    return to_.admin().examine(i, std::move(l));
  }

 private:
  storage::backend& to_;
};

}  // namespace holdfast::test
