#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "chaos/event.hpp"

namespace holdfast::chaos {

/// The client processes of a run, by number. May be used by several threads. The destructor kills them.
class process_table {
 public:
  explicit process_table(std::string coordinator) : coordinator_(std::move(coordinator)) {}
  process_table(const process_table&) = delete;
  process_table& operator=(const process_table&) = delete;
  ~process_table();

  /// Returns the number of the process.
  std::uint32_t start(role, const std::string& where, std::uint64_t seed, bool shares);
  void stop(std::uint32_t process);  ///< SIGSTOP; it stays stopped until resume() was called as often
  void resume(std::uint32_t process);
  void kill(std::uint32_t process);  ///< SIGKILL
  /// Waits for a process that has closed its connection.
  struct end {
    bool killed;
    std::int64_t at;  ///< not before its last event
    int code;         ///< exit code, or minus the signal
  };
  end wait_for_end(std::uint32_t process);

  [[nodiscard]] std::vector<std::uint32_t> alive(role) const;
  [[nodiscard]] bool is(std::uint32_t process, role) const;
  /// True if a process has neither ended nor been killed. (wait_for_end() is never called for one killed before it
  /// connected.)
  [[nodiscard]] bool any() const;

 private:
  struct member {
    pid_t pid;
    role what;
    int stops = 0;
    std::optional<std::int64_t> killed;
  };
  mutable std::mutex mutex_;
  const std::string coordinator_;
  std::map<std::uint32_t, member> all_;
  std::uint32_t last_ = 0;
};

}  // namespace holdfast::chaos
