#pragma once
#include <optional>
#include <stop_token>

#include "holdfast/limit.hpp"

namespace holdfast::core {

/// A caller's limit that also ends when something else is asked to stop.
class cut {
 public:
  cut(const limit& callers, const std::stop_token& also) : limit_(callers.at(), also) {
    if (!callers.stop().stop_possible()) return;
    both_.emplace();
    first_.emplace(callers.stop(), stopper{*both_});
    second_.emplace(also, stopper{*both_});
    limit_ = limit(callers.at(), both_->get_token());
  }
  cut(const cut&) = delete;
  cut& operator=(const cut&) = delete;
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
