#pragma once
#include <sys/types.h>

#include <functional>
#include <vector>

namespace holdfast::cli {

/// Processes of ours. They go with us.
class staff {
 public:
  staff() = default;
  staff(const staff&) = delete;
  staff& operator=(const staff&) = delete;
  ~staff();  ///< whoever is left is killed
  /// Does the work in a process of its own, and exits with what it returns. Only while this process has no threads.
  void hire(const std::function<int()>& work);
  void kill(std::size_t number, int signal) const;
  /// True: all have ended. Looks, and does not wait.
  [[nodiscard]] bool all_ended();

 private:
  std::vector<pid_t> all_;
};

}  // namespace holdfast::cli
