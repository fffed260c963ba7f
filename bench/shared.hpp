#pragma once
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// An object in shared memory that lives as long as the program.
template <class T>
[[nodiscard]] T& shared() {
  void* page = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::runtime_error("mmap");
  return *new (page) T;
}

/// A child process that runs f and is killed with this object.
class process {
 public:
  template <class F>
  explicit process(F f) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    f();
    ::_exit(0);
  }
  process(process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  process& operator=(process&&) = delete;
  ~process() { end(SIGKILL); }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    join();
  }
  void join() {
    if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  void kill() const { ::kill(pid_, SIGKILL); }

 private:
  pid_t pid_;
};

/// A temporary directory, removed at the end of the scope.
class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(name);
    path_ = name;
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace bench
