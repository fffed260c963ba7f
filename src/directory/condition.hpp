#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/findings.hpp"

/// What the state of a folder and its files means for locks. Nothing here looks at them.
namespace holdfast::directory {

/// One of those that lead to the folder of a store, or that folder itself.
struct folder_above {
  std::string path;
  uid_t owner = 0;
  mode_t mode = 0;
};

struct room_left {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> files{};  ///< nothing: the file system does not count them
};

/// What is left of processes that went without a word.
struct remains {
  std::size_t sessions = 0;  ///< all there are
  std::size_t dead = 0;      ///< of them
  std::size_t places = 0;    ///< what the dead held or waited for
  std::size_t sockets = 0;   ///< that nobody reads
};

void judge_folder(const folder_above& itself, uid_t us, storage::findings&);
void judge_above(const std::vector<folder_above>&, uid_t us, storage::findings&);
void judge_file_system(long type, storage::findings&);  ///< as statfs() says it
void judge_room(const room_left&, storage::findings&);
void judge_version(const std::string& version, storage::findings&);
void judge_journal(const std::string& mode, storage::findings&);
void judge_remains(const remains&, storage::findings&);
/// "ok", or what is wrong; empty: there was no time to look at all of it.
void judge_integrity(const std::string& said, const std::string& file, storage::findings&);

}  // namespace holdfast::directory
