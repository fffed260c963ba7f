#include "directory/condition.hpp"

#include <linux/magic.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>

namespace holdfast::directory {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t least_bytes = mebibyte, few_bytes = 16 * mebibyte;
constexpr std::uint64_t least_files = 8, few_files = 256;

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

}  // namespace

void judge_folder(const folder_above& itself, uid_t us, storage::findings& found) {
  const std::string what =
      itself.path + " belongs to user " + std::to_string(itself.owner) + ", with the mode " + octal(itself.mode) + ".";
  const bool others_write = (itself.mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write || (itself.owner != us && itself.owner != 0)) {  // since it was opened: then it is refused
    return found.danger("dir.owner", what, "Others can delete its files, and take locks that are held.",
                        "chmod go-w " + itself.path + ", or name a directory of your own");
  }
  found.fine("dir.owner", what);
}

void judge_above(const std::vector<folder_above>& all, uid_t us, storage::findings& found) {
  for (const folder_above& each : all) {
    const bool others_write = (each.mode & (S_IWGRP | S_IWOTH)) != 0 && (each.mode & S_ISVTX) == 0;
    const bool anothers = each.owner != us && each.owner != 0;
    if (!others_write && !anothers) continue;
    return found.warning("dir.above",
                         "Other users can move what is in " + each.path + " (user " + std::to_string(each.owner) +
                             ", mode " + octal(each.mode) + ").",
                         "Whoever moves the directory of the store away makes a second one possible: the old holders "
                         "hear of their loss within two seconds, and until then two hold at once.",
                         "chmod go-w " + each.path + ", or choose a directory under /var/lib");
  }
  found.fine("dir.above", "Nobody else can move the directory away.");
}

void judge_file_system(long type, storage::findings& found) {
  const std::string id = "dir.file_system";
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) {
    return found.note(id, "The directory is in memory (tmpfs), and empty after a restart of the machine.",
                      "Locks do not mind, but fences begin again at the clock: if that was set back meanwhile, they go "
                      "back, too.",
                      "Choose a directory on a disk, such as dir:/var/lib/NAME, if a resource checks fences");
  }
  if (type == OVERLAYFS_SUPER_MAGIC) {
    return found.note(id, "The directory is in the layer of a container (overlayfs).",
                      "Other containers, and the machine itself, have another one under this name, and do not see its "
                      "locks.",
                      "Mount a directory of the machine into all containers that share locks");
  }
  found.fine(id, "The directory is on a file system of this machine.");
}

void judge_room(const room_left& room, storage::findings& found) {
  const std::string files = room.files ? ", and for " + std::to_string(*room.files) + " files" : "";
  const std::string what =
      "There is room for " + std::to_string(room.bytes / mebibyte) + " MiB" + files + " where the directory is.";
  const std::string why = "On a full disk locks fail (the disk is full); what is held stays held.";
  const std::string cure = "Free some space there, or choose another directory";
  const std::uint64_t new_files = room.files.value_or(few_files);
  if (room.bytes < least_bytes || new_files < least_files) {
    found.danger("dir.room", what, why, cure);
  } else if (room.bytes < few_bytes || new_files < few_files) {
    found.warning("dir.room", what, why, cure);
  } else {
    found.fine("dir.room", what);
  }
}

void judge_version(const std::string& version, storage::findings& found) {
  found.fine("dir.version", "The tables are of the version that we write (" + version +
                                "), and of this boot of the machine.");  // others are refused, or begun anew
}

void judge_journal(const std::string& mode, storage::findings& found) {
  if (mode == "wal") return found.fine("dir.journal", "Who looks waits for no writer (journal_mode wal).");
  found.warning("dir.journal", "Something else than Holdfast has changed the journal of the database (" + mode + ").",
                "Those who look and those who write wait for each other, and calls may fail as unreachable.",
                "Close what has it open, and open the store again: that sets it right");
}

void judge_remains(const remains& left, storage::findings& found) {
  const std::size_t living = left.sessions - left.dead;
  if (left.dead == 0 && left.sockets == 0) {
    return found.fine("dir.remains", "All " + std::to_string(living) + " sessions are of processes that live.");
  }
  found.note("dir.remains",
             std::to_string(left.dead) + " sessions, with " + std::to_string(left.places) + " places, and " +
                 std::to_string(left.sockets) + " sockets are left of processes that ended without a word.",
             "They hold nothing, and keep nobody waiting; they only take room.",
             "Nothing has to be done: whoever opens the store tidies up after some of them");
}

void judge_integrity(const std::string& said, const std::string& file, storage::findings& found) {
  if (said == "ok") return found.fine("dir.integrity", "SQLite finds its file whole (quick_check).");
  if (said.empty()) {
    return found.note("dir.integrity", "There was no time to look at all of " + file + ".",
                      "A part that was not looked at may be damaged.",
                      "sqlite3 -readonly " + file + " 'PRAGMA integrity_check'");
  }
  found.danger("dir.integrity", file + " is damaged: " + said.substr(0, 200) + ".",
               "Locks fail as foreign, or what is held is forgotten.",
               "End all who use the store, then move locks.db, locks.db-wal and locks.db-shm away; leave the file "
               "fences, so that fences go on");
}

}  // namespace holdfast::directory
