#include "directory/file_checks.hpp"

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
      itself.path + " belongs to user " + std::to_string(itself.owner) + " and has mode " + octal(itself.mode) + ".";
  const bool others_write = (itself.mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write || (itself.owner != us && itself.owner != 0)) {  // changed since it was opened, which refuses it
    return found.danger("dir.owner", what, "Other users can delete its files and acquire locks that are held.",
                        "chmod go-w " + itself.path + ", or name a directory of your own");
  }
  found.fine("dir.owner", what);
}

void judge_above(const std::vector<folder_above>& all, uid_t us, storage::findings& found) {
  for (const folder_above& each : all) {
    const bool others_write = (each.mode & (S_IWGRP | S_IWOTH)) != 0 && (each.mode & S_ISVTX) == 0;
    const bool anothers = each.owner != us && each.owner != 0;
    if (!others_write && !anothers) continue;
    return found.warning(
        "dir.above",
        "Other users can move the contents of " + each.path + " (user " + std::to_string(each.owner) + ", mode " +
            octal(each.mode) + ").",
        "If the directory of the store is moved away, a second store can take its place: the old holders "
        "are notified within two seconds, and until then two clients can hold one lock.",
        "chmod go-w " + each.path + ", or choose a directory under /var/lib");
  }
  found.fine("dir.above", "No other user can move the directory away.");
}

void judge_file_system(long type, storage::findings& found) {
  const std::string id = "dir.file_system";
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC) {
    return found.note(
        id, "The directory is in memory (tmpfs) and is empty after a restart of the machine.",
        "Locks are not affected, but fences start again at the clock: if the clock was set back, so are the "
        "fences.",
        "Choose a directory on a disk, such as dir:/var/lib/NAME, if a resource checks fences");
  }
  if (type == OVERLAYFS_SUPER_MAGIC) {
    return found.note(id, "The directory is in the layer of a container (overlayfs).",
                      "Other containers and the host have another directory under this name and do not see its locks.",
                      "Mount a directory of the host into all containers that share locks");
  }
  found.fine(id, "The directory is on a local file system.");
}

void judge_room(const room_left& room, storage::findings& found) {
  const std::string files = room.files ? " and " + std::to_string(*room.files) + " files" : "";
  const std::string what =
      "The file system of the directory has room for " + std::to_string(room.bytes / mebibyte) + " MiB" + files + ".";
  const std::string why = "On a full disk calls fail (the disk is full). Locks that are held stay held.";
  const std::string cure = "Free some space, or choose another directory";
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
  found.fine("dir.version", "The tables have the current format (" + version +
                                ") and are of this boot of the machine.");  // others are refused or replaced
}

void judge_journal(const std::string& mode, storage::findings& found) {
  if (mode == "wal") return found.fine("dir.journal", "Readers do not wait for writers (journal_mode wal).");
  found.warning("dir.journal", "Another program has changed the journal mode of the database (" + mode + ").",
                "Readers and writers wait for each other, and calls may fail with unreachable.",
                "Close the programs that have it open, and open the store again, which restores the mode");
}

void judge_remains(const remains& left, storage::findings& found) {
  const std::size_t living = left.sessions - left.dead;
  if (left.dead == 0 && left.sockets == 0) {
    return found.fine("dir.remains", "All " + std::to_string(living) + " sessions belong to live processes.");
  }
  found.note("dir.remains",
             std::to_string(left.dead) + " sessions with " + std::to_string(left.places) + " claims and " +
                 std::to_string(left.sockets) + " sockets are left of processes that did not close the store.",
             "They hold no lock and delay no client; they only take space.",
             "Nothing has to be done: each client that opens the store removes some of them");
}

void judge_integrity(const std::string& result, const std::string& file, storage::findings& found) {
  if (result == "ok") return found.fine("dir.integrity", "SQLite finds no damage in its file (quick_check).");
  if (result.empty()) {
    return found.note("dir.integrity", "There was no time to check all of " + file + ".",
                      "A part that was not checked may be damaged.",
                      "sqlite3 -readonly " + file + " 'PRAGMA integrity_check'");
  }
  found.danger("dir.integrity", file + " is damaged: " + result.substr(0, 200) + ".",
               "Calls fail with foreign, or locks that are held are lost.",
               "Stop all clients of the store, then move locks.db, locks.db-wal and locks.db-shm away; leave the "
               "file fences, so that fences keep growing");
}

}  // namespace holdfast::directory
