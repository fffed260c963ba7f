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

/// The processes of a run, by their numbers: started, stopped, killed. May be used by several threads. They are gone
/// when it ends.
class crew {
 public:
  explicit crew(std::string office) : office_(std::move(office)) {}
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  /// Its number.
  std::uint32_t hire(role, const std::string& where, std::uint64_t seed, bool shares);
  void stop(std::uint32_t process);  ///< SIGSTOP; it stands still until it was let go as often as it was stopped
  void let_go(std::uint32_t process);
  void kill(std::uint32_t process);  ///< -9
  /// Waits for the end of one that has said good-bye.
  struct end {
    bool killed;
    std::int64_t at;  ///< not after its last sign of life
    int code;         ///< exit code, or minus the signal
  };
  end bury(std::uint32_t process);

  [[nodiscard]] std::vector<std::uint32_t> alive(role) const;
  [[nodiscard]] bool is(std::uint32_t process, role) const;
  /// Somebody has neither ended nor been killed. (One that is killed before it says a word is never buried.)
  [[nodiscard]] bool anybody() const;

 private:
  struct member {
    pid_t pid;
    role what;
    int stops = 0;
    std::optional<std::int64_t> killed;
  };
  mutable std::mutex turn_;
  const std::string office_;
  std::map<std::uint32_t, member> all_;
  std::uint32_t last_ = 0;
};

}  // namespace holdfast::chaos
