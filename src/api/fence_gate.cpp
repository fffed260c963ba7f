#include "holdfast/fence_gate.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace holdfast {

namespace {

/// The file with the highest fence, locked. It is opened for each use, because a lock on a shared descriptor would not
/// exclude other threads.
class locked_number {
 public:
  explicit locked_number(const std::string& path, int create = 0)
      : path_(path), fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC | create, 0666)) {
    if (fd_ < 0) fail("cannot open");
    int locked = 0;
    do locked = ::flock(fd_, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    if (locked != 0) {
      const int why = errno;
      ::close(fd_);
      errno = why;
      fail("cannot lock");
    }
  }
  locked_number(const locked_number&) = delete;
  locked_number& operator=(const locked_number&) = delete;
  ~locked_number() { ::close(fd_); }

  [[nodiscard]] std::uint64_t read() const {
    std::array<char, width> text{};
    const ssize_t n = ::pread(fd_, text.data(), text.size(), 0);
    if (n < 0) fail("cannot read");
    if (n == 0) return 0;  // new
    std::uint64_t number = 0;
    const char* end = text.data() + width - 1;
    const auto [at, why] = std::from_chars(text.data(), end, number);
    if (n != static_cast<ssize_t>(width) || why != std::errc() || at != end || *end != '\n') {
      errno = EINVAL;
      fail("no fence is in");
    }
    return number;
  }

  // One small write in place, always of the same length, so that a crash leaves the old number or the new one.
  void write(std::uint64_t number) const {
    const std::string digits = std::to_string(number);
    const std::string text = std::string(width - 1 - digits.size(), '0') + digits + '\n';
    if (::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(width) || ::fdatasync(fd_) != 0) {
      fail("cannot write");
    }
  }

 private:
  static constexpr std::size_t width = 21;  // twenty digits and a newline
  [[noreturn]] void fail(const char* what) const {
    throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path_);
  }
  const std::string& path_;
  const int fd_;
};

void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  const int why = errno;
  if (fd >= 0) ::close(fd);
  if (!synced) throw std::system_error(why, std::generic_category(), "cannot sync " + folder);
}

}  // namespace

bool fence_gates::admit(std::string_view resource, std::uint64_t fence, const std::function<void()>& access) {
  resource_gate& gate = of(resource);
  const std::lock_guard one_at_a_time(gate.turn);
  if (!gate.highest.admit(fence)) return false;
  access();
  return true;
}

fence_gates::resource_gate& fence_gates::of(std::string_view resource) {
  const std::lock_guard lock(mutex_);
  const auto at = gates_.find(resource);
  return at != gates_.end() ? at->second : gates_[std::string(resource)];
}

file_fence_gate::file_fence_gate(std::string path) : path_(std::move(path)) {
  const locked_number there(path_, O_CREAT);
  if (there.read() == 0) sync_folder_of(path_);  // it may be new, and its name must survive a crash
}

bool file_fence_gate::admit(std::uint64_t fence, const std::function<void()>& access) const {
  const std::lock_guard one_at_a_time(threads_);
  const locked_number highest(path_);  // not created: a new file would admit fences that the deleted one had rejected
  const std::uint64_t seen = highest.read();
  if (fence < seen || fence == 0) return false;
  if (fence > seen) highest.write(fence);
  access();
  return true;
}

}  // namespace holdfast
