#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <holdfast/lease.hpp>
#include <string>
#include <string_view>

#include "holding/options.hpp"
#include "holding/status.hpp"

namespace holdfast::cli {

/// What is told of a run: to people on stderr, to programs by the status. Both must outlive it.
class teller {
 public:
  teller(const hold_options& o, const status& s) : options_(o), status_(s), what_(o.what()) {}

  void acquired(const lease&) const;
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
