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

/// Polls the store in a thread, so that a slow store does not delay the keys.
class store_poller {
 public:
  store_poller(store, std::string prefix, std::chrono::milliseconds interval);
  ~store_poller();
  store_poller(const store_poller&) = delete;
  store_poller& operator=(const store_poller&) = delete;

  /// The changes since the last call.
  struct update {
    std::optional<std::vector<listing::entry>> names{};
    std::optional<std::pair<std::string, state>> details{};
    std::optional<std::string> trouble{};  ///< empty: the store answers again
    std::optional<std::string> done{};     ///< the result of a request
  };
  [[nodiscard]] update take();
  [[nodiscard]] int fd() const noexcept { return updated_.fd(); }  ///< readable when take() has something

  void watch_details(const std::string& name);  ///< empty: none
  void ask(top_request);

 private:
  void work(const std::stop_token&);
  void fetch_names(const std::stop_token&);
  void fetch_details(const std::string& name);
  [[nodiscard]] std::string perform(const top_request&);
  template <class Change>
  void tell(Change);

  store store_;
  const std::string prefix_;
  const std::chrono::milliseconds interval_;
  flag updated_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  update update_;
  std::string detailed_;
  bool poll_now_ = true;
  std::deque<top_request> requests_;
  std::jthread thread_;  // last: it uses the other members
};

[[nodiscard]] command_spec describe_top(const user_command& after_dashes);

}  // namespace holdfast::cli
