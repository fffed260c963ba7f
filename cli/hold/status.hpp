#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <holdfast/lease.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hold/options.hpp"
#include "text/json.hpp"

namespace holdfast::cli {

/// Writes the events of a run for programs, one JSON object a line, to the descriptor of --status-fd.
class status {
 public:
  /// Sets close-on-exec unless it is a standard stream, so that the reader sees EOF when we end, not when the command
  /// does.
  explicit status(int fd = -1) noexcept;

  struct field {
    std::string_view name;
    json_value value;
  };
  /// Returns {"event": what, "time": seconds since 1970, ...} and a newline.
  [[nodiscard]] static std::string line(std::string_view what, const std::vector<field>& more = {});
  /// Writes such a line, unless there is no descriptor. Returns the result of write_with_timeout(); a reader that is
  /// gone is no reason to stop.
  int write(std::string_view what, const std::vector<field>& more = {},
            std::chrono::milliseconds patience = brief) const;
  static constexpr std::chrono::milliseconds brief{100};

 private:
  int fd_;
};

/// Reports what happens: messages on stderr for people, events for programs. Both arguments must outlive it.
class reporter {
 public:
  reporter(const hold_options& o, const status& s) : options_(o), status_(s), what_(o.what()) {}

  /// Returns the result of status::write().
  int acquired(const lease&, std::chrono::milliseconds patience = status::brief) const;
  void started(pid_t) const;
  /// The command is stopped while the lock is still held.
  void ending(std::string_view why, bool by_max_hold) const;
  void lost(std::uint64_t fence, std::string_view why) const;
  void left_behind() const;
  void hook_failed(std::string_view why) const;
  void not_allowed() const;  ///< not allowed to signal the command
  void exited(int wait_status) const;
  void keeping(std::chrono::milliseconds left) const;
  void released_as(released) const;
  void uncertain(std::string_view why) const;

  /// The last report. Returns `code`. end_wrong() also prints the reason.
  int end(int code, std::string_view cause, std::string_view why = {}) const;
  int end_wrong(int code, std::string_view cause, std::string_view why) const;

 private:
  void say(const std::string& line) const;
  void say_more(const std::string& line) const;
  const hold_options& options_;
  const status& status_;
  const std::string what_;
};

}  // namespace holdfast::cli
