#pragma once
#include <cstdint>
#include <vector>

#include "directory/places.hpp"
#include "directory/sessions.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/loop.hpp"
#include "runtime/signal.hpp"

namespace holdfast::directory {

/// Sets a signal when one of some processes has ended. Our own is not watched: it cannot go without us.
class death_watch {
 public:
  death_watch(runtime::loop&, const sessions&, std::int64_t pid_namespace, const std::vector<process>&,
              runtime::signal&);
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;
  ~death_watch();

  /// False: some cannot be watched, because they are in another pid namespace, or for lack of something. Somebody has
  /// to look.
  [[nodiscard]] bool sees_all() const noexcept { return unseen_.empty(); }
  /// One of those that cannot be watched.
  [[nodiscard]] bool one_is_gone() const noexcept;

 private:
  [[nodiscard]] bool watch(const process&, runtime::signal&) noexcept;
  runtime::loop& loop_;
  const sessions& sessions_;
  std::vector<runtime::descriptor> watched_;
  std::vector<session_id> unseen_;
};

}  // namespace holdfast::directory
