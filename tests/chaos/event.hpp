#pragma once
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

/// The history of a chaos run: what happened, on the one monotonic clock that all processes of a machine share.
namespace holdfast::chaos {

/// A line of the history, and the packet that carries it. The meaning of `fence`, `deadline` and `value` depends on the
/// kind.
struct event {
  enum class kind : std::uint8_t {
    next,      ///< a client asks whether to continue; not kept. Reply: the limit of its next call in ms, or no
    calls,     ///< acquires a lock; value: ttl in ms; deadline: when its limit ends
    granted,   ///< fence, deadline; at: after the call returned
    busy,      ///< the call returned without the lock
    failed,    ///< the call failed; value: the error
    believes,  ///< held() was true; at: read before the call, deadline: read after it
    doubts,    ///< held() was false before the release
    told,      ///< lost_token() was stopped; deadline: the last known one
    untold,    ///< the lease had ended, and lost_token() was not stopped
    releases,  ///< is about to release
    released,  ///< value: the result of release()
    reads,     ///< at the resource that checks fences; yes: admitted; value: what it read
    writes,    ///< writes there; value: what it writes
    peeks,     ///< reads at the resource that does not check
    pokes,     ///< writes there
    runs,      ///< the program is about to be started; value: the number of the run, deadline: ttl in ms
    began,     ///< the command of a run has the lock; fence; value: the run
    ended,     ///< the command is about to end; value: the run; deadline: its exit code
    ran,       ///< the program has ended; value: the run; deadline: its exit code, or minus the signal
    died,      ///< a process ended; yes: it was killed on purpose; value: exit code; party: any of that process
    fault,     ///< yes: starts, no: ends; value: its number; text: its name
    healed,    ///< all faults have ended
    stock,     ///< resources of a process; value: open files; deadline: threads; fence: memory in KiB
    probe,     ///< after the end; yes: the lock was acquired; value: how long that took in ns
    leftover,  ///< after the end: a key that remains; text: its name
  };
  kind what = kind::next;
  std::uint8_t lock = 0;  ///< of `locks`
  std::uint8_t part = 0;  ///< 0: exclusive; otherwise 1 for a reader, or the number of permits
  bool yes = false;
  std::uint32_t party = 0;  ///< a thread of a process; 0: the runner
  std::int64_t at = 0;      ///< ns of the boot clock
  std::uint64_t fence = 0;
  std::int64_t deadline = 0;
  std::int64_t value = 0;
  char text[32] = {};  ///< ends with a zero

  void say(std::string_view t) noexcept {
    const std::size_t n = t.size() < sizeof text - 1 ? t.size() : sizeof text - 1;
    std::memcpy(text, t.data(), n);
    text[n] = 0;
  }
};

/// The reply to next, reads, writes, peeks and pokes.
struct reply {
  std::int64_t value = 0;
  bool yes = false;
};

enum class role : std::uint8_t { library, naive, program };

/// The number of threads of a process. Their parties have consecutive numbers.
inline constexpr std::uint32_t threads = 2;
inline std::uint32_t process_of(std::uint32_t party) { return party / threads; }

[[nodiscard]] std::string_view name_of(event::kind) noexcept;
/// One line of text each.
std::ostream& operator<<(std::ostream&, const event&);
/// Empty if it is not a line of a history.
[[nodiscard]] std::optional<event> parse(const std::string& line);

}  // namespace holdfast::chaos
