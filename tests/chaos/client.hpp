#pragma once
#include <cstdint>
#include <string>

#include "chaos/event_channel.hpp"

/// The processes of a chaos run. Each works until the coordinator says that the run is over.
namespace holdfast::chaos {

/// The arguments of a client process.
struct assignment {
  std::string coordinator;
  std::uint32_t process = 0;
  std::uint64_t seed = 0;
  std::string where;  ///< the URL; for a naive client, paths of sockets
  bool shares = true;
};

/// Threads that acquire locks through the library, work under them and release them, sometimes too late.
void run_library_client(const assignment&, event_channel&);
/// The lock of many tutorials, SET NX PX and a plain DEL: without an owner, a deadline or a fence.
void run_naive_client(const assignment&, event_channel&);
/// Runs commands under a lock with `holdfast run`.
void run_program_client(const assignment&, event_channel&);
/// The command that run_program_client() runs. Returns its exit code.
[[nodiscard]] int run_command(std::uint32_t process, std::int64_t run, event_channel&);

/// Adds one to the counter of a lock, with a fence. Returns false if the fence was rejected.
bool add_fenced(event_channel&, event who, std::uint64_t fence, std::uint64_t pause_in_us);
/// Adds one to the counter that does not check fences.
void add_unfenced(event_channel&, event who, std::uint64_t pause_in_us);

}  // namespace holdfast::chaos
