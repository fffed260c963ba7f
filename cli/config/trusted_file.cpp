#include "config/trusted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "config/error.hpp"
#include "process/descriptor.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t max_size = 1 << 20;

[[noreturn]] void unreadable(const std::string& path, int why) {
  throw config_error(path + ": cannot be read: " + std::generic_category().message(why) +
                     "; mend that, or give the store by its URL, which needs no file");
}

void check(const std::string& path, const struct stat& is) {
  if (!S_ISREG(is.st_mode)) throw config_error(path + ": is no file; name one, or remove it");
  if (is.st_uid != ::geteuid() && is.st_uid != 0) {
    throw config_error(path + ": belongs to user " + std::to_string(is.st_uid) +
                       ", who could change where your locks are; give it to you or root: chown");
  }
  if ((is.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw config_error(path + ": others may write to it, and could change where your locks are; say: chmod go-w " +
                       path);
  }
}

}  // namespace

std::optional<trusted_text> read_trusted(const std::string& path) {
  // A pipe that nobody writes to would keep us.
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    unreadable(path, errno);
  }
  struct stat is{};
  if (::fstat(file.get(), &is) != 0) unreadable(path, errno);
  check(path, is);
  trusted_text got{.others_may_read = (is.st_mode & (S_IRGRP | S_IROTH)) != 0};
  char part[4096];
  while (const ssize_t n = ::read(file.get(), part, sizeof part)) {
    if (n < 0) unreadable(path, errno);
    got.text.append(part, static_cast<std::size_t>(n));
    if (got.text.size() > max_size) throw config_error(path + ": is longer than a megabyte; is this the right file?");
  }
  return got;
}

}  // namespace holdfast::cli
