#include "directory/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "storage/answer.hpp"

namespace holdfast::directory {

namespace {

[[noreturn]] void fail(int why, const std::string& what) {
  const bool denied = why == EACCES || why == EPERM;
  throw storage::failure(denied ? errc::denied : errc::not_ready, what + ": " + std::generic_category().message(why));
}

// On these file systems locks are kept by a server or not at all, and sockets do not work.
const char* network_file_system(long type) noexcept {
  switch (type) {
    case NFS_SUPER_MAGIC: return "NFS";
    case SMB_SUPER_MAGIC:
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
      return "SMB";
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC: return "AFS";
    case CODA_SUPER_MAGIC: return "Coda";
    case V9FS_MAGIC: return "9P";
    case 0x00C36400: return "Ceph";
    case 0x0BD00BD0: return "Lustre";
    case 0x01161970: return "GFS2";
    case 0x7461636F: return "OCFS2";
    case 0x47504653: return "GPFS";
    case 0x65735546: return "FUSE";
    default: return nullptr;
  }
}

/// Follows symbolic links except those of other users, who could point them to another folder while a lock is held.
descriptor open_folder(const std::string& path) {
  constexpr int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  descriptor opened(::open(path.c_str(), how | O_NOFOLLOW));
  struct stat link{};
  if (opened.get() >= 0 || ::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return opened;
  if (link.st_uid != ::geteuid() && link.st_uid != 0) {
    throw storage::failure(
        errc::denied, path + " is a symbolic link that belongs to user " + std::to_string(link.st_uid) + ", not to us");
  }
  return descriptor(::open(path.c_str(), how));
}

/// Returns true if a client has used the directory before. Other files that are in it now do not matter.
bool is_store(int folder) noexcept {
  return ::faccessat(folder, "locks.db", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
         ::faccessat(folder, "fences", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Refuses a directory that is used for something else. Another client may be creating the same store now, or one was
/// killed while it did, so files of a store may be here. A file system that is mounted here may have its "lost+found".
void refuse_other_files(int folder, const std::string& path) {
  constexpr std::array<std::string_view, 12> ours{
      ".",          "..",       "lost+found",   "sessions",     "writers",          "fences",
      "fences.new", "locks.db", "locks.db-wal", "locks.db-shm", "locks.db-journal", "inboxes"};
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> all(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  if (!all) fail(errno, "cannot list " + path);
  while (const dirent* const one = ::readdir(all.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const std::string_view name = one->d_name;
    if (std::find(ours.begin(), ours.end(), name) != ours.end()) continue;
    throw storage::failure(errc::bad_url, path + " has files that do not belong to a store, such as " +
                                              std::string(name) +
                                              "; name a new or an empty directory, for example dir:" +
                                              (path.ends_with('/') ? path : path + "/") + "locks");
  }
}

}  // namespace

std::string folder::of_this_user() { return "/var/tmp/holdfast-" + std::to_string(::geteuid()); }

folder::folder(const std::string& path) : path_(path) {
  if (path.empty() || path.front() != '/') {
    throw storage::failure(errc::bad_url, "dir: needs an absolute path, for example dir:/var/lib/locks");
  }
  if (path.find_first_of("?#") != std::string::npos) {
    throw storage::failure(errc::bad_url, "dir: takes no options, so its path cannot contain ? or #");
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    if (errno == ENOENT || errno == ENOTDIR) {
      throw storage::failure(errc::bad_url,
                             "cannot create " + path + ": its parent is not a directory; create that first");
    }
    fail(errno, "cannot create " + path);
  }
  fd_ = open_folder(path);
  if (fd_.get() < 0) fail(errno, "cannot open " + path);

  struct stat is{};
  if (::fstat(fd_.get(), &is) != 0) fail(errno, "cannot examine " + path);
  if (is.st_uid != ::geteuid() && is.st_uid != 0) {
    throw storage::failure(errc::denied,
                           path + " belongs to user " + std::to_string(is.st_uid) + "; name a directory of your own");
  }
  if ((is.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw storage::failure(errc::denied,
                           path + " can be written by other users; run chmod go-w on it, or choose another directory");
  }
  struct statfs file_system{};
  if (::fstatfs(fd_.get(), &file_system) != 0) fail(errno, "cannot examine the file system of " + path);
  if (const char* network = network_file_system(file_system.f_type)) {
    throw storage::failure(errc::unsupported, path + " is on " + network + "; locks need a local file system");
  }
  identity_.emplace(is);
  if (!is_store(fd_.get())) refuse_other_files(fd_.get(), path);
  ::flock(fd_.get(), LOCK_SH | LOCK_NB);  // systemd-tmpfiles does not clean a locked directory
}

timespec folder::check() const {
  struct stat is{};
  if (::stat(path_.c_str(), &is) != 0 || !identity_->is(is)) fail_as_replaced(path_);
  return is.st_ctim;
}

identity folder::identify(const std::string& name) const {
  struct stat is{};
  if (::fstatat(fd_.get(), name.c_str(), &is, AT_SYMLINK_NOFOLLOW) != 0) fail_as_replaced(file(name));
  return identity(is);
}

void folder::check(const std::string& name, const identity& opened) const {
  struct stat is{};
  const bool there = ::fstatat(fd_.get(), name.c_str(), &is, AT_SYMLINK_NOFOLLOW) == 0;
  if (!there || !opened.is(is)) fail_as_replaced(file(name));
}

void folder::refresh(const std::string& name) const noexcept {
  ::utimensat(fd_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::string folder::short_path(const std::string& name) const {
  return "/proc/self/fd/" + std::to_string(fd_.get()) + "/" + name;
}

descriptor folder::open_file(const std::string& name) const {
  descriptor opened(::openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (opened.get() < 0) fail(errno, "cannot open " + file(name));
  return opened;
}

void folder::make_file(const std::string& name) const {
  const descriptor made(::openat(fd_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made.get() < 0 && errno != EEXIST) fail(errno, "cannot create " + file(name));
}

std::optional<std::string> folder::read(const std::string& name) const {
  const descriptor opened(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (opened.get() < 0 && errno == ENOENT) return std::nullopt;
  std::array<char, 256> text{};
  const ssize_t n = opened.get() < 0 ? -1 : ::read(opened.get(), text.data(), text.size());
  if (n < 0) fail(errno, "cannot read " + file(name));
  return std::string(text.data(), static_cast<std::size_t>(n));
}

void folder::replace(const std::string& name, const std::string& text) const {
  const std::string fresh = name + ".new";
  const descriptor made(
      ::openat(fd_.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.get() < 0 || ::write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(made.get()) != 0 || ::renameat(fd_.get(), fresh.c_str(), fd_.get(), name.c_str()) != 0 ||
      ::fsync(fd_.get()) != 0) {
    fail(errno, "cannot write " + file(name));
  }
}

void folder::make_folder(const std::string& name) const {
  if (::mkdirat(fd_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) fail(errno, "cannot create " + file(name));
}

void folder::remove(const std::string& name) const noexcept { ::unlinkat(fd_.get(), name.c_str(), 0); }

void fail_as_replaced(const std::string& path) {
  throw storage::failure(errc::foreign, path + " was deleted or replaced while it was in use; open the store again");
}

}  // namespace holdfast::directory
