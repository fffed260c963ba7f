#pragma once
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// `holdfast run NAME -- CMD...`: holds the lock while the command runs.
struct run_options {
  std::string store{};
  std::string name{};
  std::vector<std::string> command{};
  std::optional<std::chrono::milliseconds> wait{};  ///< nothing: as long as it takes
  int busy_code = 75;
  bool skip = false;  ///< busy is fine
  std::chrono::milliseconds ttl{10'000};
  std::chrono::milliseconds max_hold{0};
  std::optional<std::chrono::milliseconds> grace{};
  std::optional<std::string> label{};  ///< nothing: host, process id and program
  int on_lost = SIGTERM;               ///< the signal that the command gets when the lock is lost; 0: none
  int status_fd = -1;
  bool quiet = false;
  bool verbose = false;
};

/// What is wrong with a store for several processes; empty: nothing. A store inside this one cannot protect them.
[[nodiscard]] std::string shared_store(const std::string& url);
/// Adds the command to the program; what it parses goes into the options.
void describe_run(CLI::App& program, run_options&);
/// To the end. Returns the exit code.
[[nodiscard]] int run(const run_options&);

}  // namespace holdfast::cli
