#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "process/descriptor.hpp"

namespace holdfast::cli {

/// Set from any thread, seen by poll().
class flag {
 public:
  flag() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (fd_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  void set() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = ::write(fd_.get(), &one, sizeof one);
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  void take() const noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
  }

 private:
  descriptor fd_;
};

}  // namespace holdfast::cli
