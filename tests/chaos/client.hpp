#pragma once
#include <cstdint>
#include <string>

#include "chaos/line.hpp"

/// The processes of a chaos run. Each goes on until the office says that it is over.
namespace holdfast::chaos {

/// What a client process is told on its command line.
struct assignment {
  std::string office;
  std::uint32_t process = 0;
  std::uint64_t seed = 0;
  std::string where;  ///< the URL; of a naive client, the paths of sockets
  bool shares = true;
};

/// The library: its threads take locks, work under them, and give them back; not always in time.
void use_the_library(const assignment&, line&);
/// SET NX PX and a plain DEL, as in many a tutorial: no owner, no deadline, no fence.
void be_naive(const assignment&, line&);
/// Runs commands under a lock with the program.
void use_the_program(const assignment&, line&);
/// Such a command; its exit code.
[[nodiscard]] int be_the_command(std::uint32_t process, std::int64_t run, line&);

/// One addition at the counter of a lock, with a fence. False: it was refused.
bool add_fenced(line&, event who, std::uint64_t fence, std::uint64_t pause_in_us);
/// The same where none is checked.
void add_unfenced(line&, event who, std::uint64_t pause_in_us);

}  // namespace holdfast::chaos
