#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <holdfast/lease.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "holding/options.hpp"
#include "text/json.hpp"

namespace holdfast::cli {

/// What a program can read about a run: one JSON object a line, on the descriptor of --status-fd.
class status {
 public:
  /// From now on no command inherits the descriptor, unless it is a standard one: what is said there is ours alone to
  /// say, and ends with us.
  explicit status(int fd = -1) noexcept;

  struct field {
    std::string_view name;
    json_value value;
  };
  /// {"event": what, "time": seconds since 1970, ...}, with its newline.
  [[nodiscard]] static std::string line(std::string_view what, const std::vector<field>& more = {});
  /// Writes such a line. A reader that is gone is no reason to stop: who depends on it looks at the result, which is
  /// that of write_while_read(). Without a descriptor there is nothing to write.
  int tell(std::string_view what, const std::vector<field>& more = {},
           std::chrono::milliseconds patience = brief) const;
  static constexpr std::chrono::milliseconds brief{100};

 private:
  int fd_;
};

/// What is told of a run: to people on stderr, to programs by the status. Both must outlive it.
class teller {
 public:
  teller(const hold_options& o, const status& s) : options_(o), status_(s), what_(o.what()) {}

  /// Returns what status::tell() returns.
  int acquired(const lease&, std::chrono::milliseconds patience = status::brief) const;
  void started(pid_t) const;
  /// It is stopped though the lock is still ours: `why` in words.
  void ending(std::string_view why, bool by_max_hold) const;
  void lost(std::uint64_t fence, std::string_view why) const;
  void left_behind() const;
  void no_line(std::string_view why) const;
  void not_allowed() const;  ///< to signal the command
  void exited(int wait_status) const;
  void keeping(std::chrono::milliseconds left) const;
  void gave_back(released) const;
  void uncertain(std::string_view why) const;

  /// The last that is told. Returns the code. Of what is wrong people are told as well.
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
