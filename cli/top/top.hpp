#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <holdfast/store.hpp>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command.hpp"
#include "process/io.hpp"
#include "top/model.hpp"

namespace holdfast::cli {

/// Asks the store on a thread of its own, again and again: one that is slow or silent does not keep the keys waiting.
class lookout {
 public:
  lookout(store, std::string prefix, std::chrono::milliseconds interval);
  ~lookout();
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;

  /// What has come since the last call.
  struct news {
    std::optional<std::vector<listing::entry>> names{};
    std::optional<std::pair<std::string, state>> details{};
    std::optional<std::string> trouble{};  ///< empty: none any more
    std::optional<std::string> done{};     ///< what became of a request
  };
  [[nodiscard]] news take();
  [[nodiscard]] int fd() const noexcept { return told_.fd(); }  ///< readable when there is some

  void look_at(const std::string& name);  ///< in detail; empty: at none
  void ask(top_request);

 private:
  void work(const std::stop_token&);
  void look(const std::stop_token&);
  void look_closer(const std::string& name);
  [[nodiscard]] std::string perform(const top_request&);
  template <class Change>
  void tell(Change);

  store store_;
  const std::string prefix_;
  const std::chrono::milliseconds interval_;
  flag told_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  news news_;
  std::string closer_;
  bool look_now_ = true;
  std::deque<top_request> requests_;
  std::jthread thread_;  // the last: it uses the others
};

[[nodiscard]] command_spec describe_top(const user_command& after_dashes);

}  // namespace holdfast::cli
