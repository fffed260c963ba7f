#pragma once
#include <optional>
#include <stop_token>

#include "holdfast/limit.hpp"

namespace holdfast::core {

/// A caller's limit that also ends when another stop_token is triggered.
class linked_limit {
 public:
  linked_limit(const limit& callers, const std::stop_token& also) : limit_(callers.at(), also) {
    if (!callers.stop().stop_possible()) return;
    both_.emplace();
    first_.emplace(callers.stop(), stopper{*both_});
    second_.emplace(also, stopper{*both_});
    limit_ = limit(callers.at(), both_->get_token());
  }
  linked_limit(const linked_limit&) = delete;
  linked_limit& operator=(const linked_limit&) = delete;
  [[nodiscard]] const limit& get() const noexcept { return limit_; }

 private:
  struct stopper {
    std::stop_source& both;
    void operator()() const noexcept { both.request_stop(); }
  };
  std::optional<std::stop_source> both_;
  std::optional<std::stop_callback<stopper>> first_, second_;
  limit limit_;
};

}  // namespace holdfast::core
