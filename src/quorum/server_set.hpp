#pragma once
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quorum/vote_round.hpp"
#include "runtime/io.hpp"
#include "runtime/task_group.hpp"
#include "storage/answer.hpp"
#include "storage/voter.hpp"

namespace holdfast::quorum {

template <class T>
using round_ptr = std::shared_ptr<vote_round<T>>;

template <class T>
bool is_for_us(const storage::answer<T>&) {
  return true;
}
/// A vote may be for another client.
inline bool is_for_us(storage::answer<storage::vote>& got) { return !got.is_yes() || got.value().fence != 0; }

template <class T>
storage::task<void> put_into(round_ptr<T> all, std::size_t who, storage::task<storage::answer<T>> work) {
  storage::answer<T> got = storage::answer<T>::no();
  try {
    got = co_await work;
  } catch (const std::exception& e) {  // the request may have been sent
    got = storage::answer<T>::unknown(storage::failure(errc::not_ready, e.what()));
  }
  const bool for_us = is_for_us(got);
  all->put(who, std::move(got), for_us);
}

/// The limit of one request that is not urgent.
constexpr runtime::span one_request = std::chrono::seconds(1);
/// How long to wait for the other servers once a majority has answered.
constexpr runtime::span minority_wait = std::chrono::milliseconds(100);

/// The servers of a quorum. Asks all of them at once, on the loop.
class server_set {
 public:
  server_set(std::vector<std::unique_ptr<storage::voter>>, runtime::io& loop);

  [[nodiscard]] runtime::io& loop() const noexcept { return loop_; }
  [[nodiscard]] std::size_t size() const noexcept { return voters_.size(); }
  [[nodiscard]] std::size_t majority() const noexcept { return majority_of(voters_.size()); }
  [[nodiscard]] const std::vector<std::unique_ptr<storage::voter>>& voters() const noexcept { return voters_; }
  [[nodiscard]] storage::voter& operator[](std::size_t who) const noexcept { return *voters_[who]; }
  /// The limit of one step, which also ends when the store closes.
  [[nodiscard]] limit until(runtime::instant at) const { return limit(at, ending_.get_token()); }
  [[nodiscard]] bool is_ending() const noexcept { return ending_.stop_requested(); }

  /// Runs a call of a blocking caller on the loop, and waits for it. The call has the caller's limit.
  template <class T>
  [[nodiscard]] T on_loop(storage::task<T> call) {
    std::optional<T> result;
    std::exception_ptr error;
    runtime::signal over;
    tasks_.run_until(run(std::move(call), result, error, over), over);
    if (error) std::rethrow_exception(error);
    return std::move(*result);
  }

  /// Starts a request to every server, without waiting for the answers.
  template <class T, class Ask>
  [[nodiscard]] round_ptr<T> ask_all(Ask ask, std::size_t min_margin = 0) {
    auto all = std::make_shared<vote_round<T>>(voters_.size(), min_margin);
    for (std::size_t who = 0; who < voters_.size(); ++who) begin(put_into<T>(all, who, ask(who)));
    return all;
  }
  /// Runs a task on the loop. Only close() waits for it.
  void begin(storage::task<void> work) { tasks_.spawn(std::move(work)); }

  /// Returns what went wrong, server by server. The code is permanent if asking again cannot help.
  template <class T>
  [[nodiscard]] storage::failure why_not(vote_round<T>& all, std::string_view what) const {
    std::size_t for_good = 0, refused = 0;
    std::optional<errc> code, for_good_code;
    std::string text(what);
    std::size_t listed = 0;
    for (std::size_t who = 0; who < voters_.size(); ++who) {
      std::optional<storage::answer<T>>& got = all.replies()[who];
      if (!got || !got->is_unknown()) continue;
      const storage::failure& why = got->why();
      if (!why.is_late) ++refused;
      if (why.permanent()) {
        ++for_good;
        for_good_code = why.code;
      }
      if (!code || why.code == errc::unreachable) code = why.code;
      text.append(listed++ == 0 ? ": " : "; ").append(voters_[who]->where()).append(": ").append(why.text);
    }
    if (listed == 0) text.append(": no answer in time");
    if (for_good > voters_.size() - majority()) return storage::failure(*for_good_code, std::move(text));
    if (code && storage::failure(*code, "").permanent()) code = errc::not_ready;
    storage::failure all_in_all(code.value_or(errc::unreachable), std::move(text));
    const bool can_answer = refused <= voters_.size() - majority();  // a majority may still answer
    all_in_all.is_late = all_in_all.code == errc::unreachable && can_answer;
    return all_in_all;
  }

  /// Waits until enough servers for an election are connected, or no more can be. Returns why no majority is reachable.
  [[nodiscard]] storage::task<std::optional<storage::failure>> reach_majority(std::size_t min_margin, limit);

  /// Ends all running tasks. Must not be called on the loop.
  void close() noexcept;

 private:
  template <class T>
  static storage::task<void> run(storage::task<T> call, std::optional<T>& result, std::exception_ptr& error,
                                 runtime::signal& over) {
    try {
      T got = co_await call;
      result.emplace(std::move(got));
    } catch (...) {
      error = std::current_exception();
    }
    over.set();
  }
  storage::task<storage::answer<storage::done>> reach(std::size_t who, limit);

  runtime::io& loop_;
  std::stop_source ending_;
  std::vector<std::unique_ptr<storage::voter>> voters_;
  runtime::task_group tasks_;
};

}  // namespace holdfast::quorum
