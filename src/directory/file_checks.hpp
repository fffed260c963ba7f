#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/findings.hpp"

/// What the state of a folder and its files means for locks. These functions do no I/O.
namespace holdfast::directory {

/// The folder of a store, or one above it.
struct folder_above {
  std::string path;
  uid_t owner = 0;
  mode_t mode = 0;
};

struct room_left {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> files{};  ///< empty: the file system does not count files
};

/// Leftovers of processes that ended without closing the store.
struct remains {
  std::size_t sessions = 0;  ///< including the live ones
  std::size_t dead = 0;
  std::size_t places = 0;   ///< the claims of dead sessions
  std::size_t sockets = 0;  ///< the sockets of dead sessions
};

void judge_folder(const folder_above& itself, uid_t us, storage::findings&);
void judge_above(const std::vector<folder_above>&, uid_t us, storage::findings&);
void judge_file_system(long type, storage::findings&);  ///< as returned by statfs()
void judge_room(const room_left&, storage::findings&);
void judge_version(const std::string& version, storage::findings&);
void judge_journal(const std::string& mode, storage::findings&);
void judge_remains(const remains&, storage::findings&);
/// `result`: "ok", or what is wrong; empty if the check was interrupted.
void judge_integrity(const std::string& result, const std::string& file, storage::findings&);

}  // namespace holdfast::directory
