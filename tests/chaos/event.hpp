#pragma once
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

/// The history of a chaos run: what happened, on the one monotonic clock that all processes of a machine share.
namespace holdfast::chaos {

/// A line of the history, and a packet on its way to it. What `fence`, `deadline` and `value` are, depends on the kind.
struct event {
  enum class kind : std::uint8_t {
    next,      ///< a client asks whether to go on; not kept. Reply: the limit of its next call in ms, or no
    calls,     ///< for a lock; value: ttl in ms; deadline: when its limit is over
    granted,   ///< fence, deadline; at: when the call had returned
    busy,      ///< the call came back without the lock
    failed,    ///< the call came back with an error; value: which
    believes,  ///< held() said yes; at: read before it was asked, deadline: read after
    doubts,    ///< held() said no, and it was not released
    told,      ///< lost_token() was stopped; deadline: the last that was known
    untold,    ///< it was over, and lost_token() was not stopped
    releases,  ///< is about to release
    released,  ///< value: what release() said
    reads,     ///< at the resource that checks fences; yes: admitted; value: what it read
    writes,    ///< the same; value: what it writes
    peeks,     ///< at the resource that does not
    pokes,     ///< the same
    runs,      ///< a program with the lock is about to be started; value: the number of the run, deadline: ttl in ms
    began,     ///< the command of a run has the lock; fence; value: the run
    ended,     ///< it is about to end; value: the run; deadline: its exit code
    ran,       ///< the program has ended; value: the run; deadline: its exit code, or minus the signal
    died,      ///< a process is gone; yes: it was killed on purpose; value: exit code; party: any of that process
    fault,     ///< yes: begins, no: is over; value: its number; text: its name
    healed,    ///< all faults are over
    stock,     ///< what a process has; value: open files; deadline: threads; fence: memory in KiB
    probe,     ///< after the end: yes: the lock could be had; value: how long that took in ns
    leftover,  ///< after the end: something is still there; text: what
  };
  kind what = kind::next;
  std::uint8_t lock = 0;  ///< of `locks`
  std::uint8_t part = 0;  ///< 0: all of it; else a reader's place, or so many permits
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

/// To those kinds that are questions: next, reads, writes, peeks, pokes.
struct reply {
  std::int64_t value = 0;
  bool yes = false;
};

enum class role : std::uint8_t { library, naive, program };

/// The threads of one process have neighbouring numbers.
inline constexpr std::uint32_t threads = 2;
inline std::uint32_t process_of(std::uint32_t party) { return party / threads; }

[[nodiscard]] std::string_view name_of(event::kind) noexcept;
/// One line of text each.
std::ostream& operator<<(std::ostream&, const event&);
/// Nothing: this is not a line of a history.
[[nodiscard]] std::optional<event> parse(const std::string& line);

}  // namespace holdfast::chaos
