// Any configuration file is parsed safely: it is rejected with a message that has the position and no password, or
// every store in it has a name that is no URL, a URL, and a valid ttl.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/file.hpp"
#include "fuzz/demand.hpp"

namespace holdfast {
namespace {

using test::demand;

/// A byte 1 stands for a URL with a password of QZ, which occurs nowhere else.
std::string text_in(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c == '\1') {
      text += "redis://me:QZQZ@host";
    } else {
      text += c == 'Q' || c == 'Z' ? 'q' : c;
    }
  }
  return text;
}

/// A file in memory that only this user can write to.
class scratch_file {
 public:
  scratch_file() : fd_(::memfd_create("config", MFD_CLOEXEC)) { demand(fd_ >= 0 && ::fchmod(fd_, S_IRUSR) == 0); }
  void hold(const std::string& text) const {
    demand(::ftruncate(fd_, 0) == 0);
    demand(::pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

void check(const cli::config_file& file) {
  demand(!file.default_store || !file.default_store->value.empty());
  for (const cli::named_store& each : file.stores) {
    demand(!each.name.empty() && each.name.find(':') == std::string::npos);
    demand(!each.url.value.empty() && each.url.from.starts_with(file.path + ":"));
    demand(!each.ttl || (each.ttl->count() >= 0 && *each.ttl <= std::chrono::hours(10 * 365 * 24)));
  }
}

void check_refusal(const std::string& path, std::string_view words) {
  const std::string_view after = words.substr(std::min(words.size(), path.size() + 1));
  demand(words.starts_with(path + ":") && after.find_first_of("0123456789 ") == 0);
  demand(words.find("QZ") == std::string_view::npos);
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  static const scratch_file file;
  file.hold(text_in({reinterpret_cast<const char*>(data), size}));
  try {
    const std::optional<cli::config_file> read = cli::read_config_file(file.path());
    demand(read.has_value());
    check(*read);
  } catch (const cli::config_error& e) {
    check_refusal(file.path(), e.what());
  }
  return 0;
}
