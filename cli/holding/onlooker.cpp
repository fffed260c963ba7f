#include "holding/onlooker.hpp"

#include <chrono>
#include <exception>
#include <holdfast/error.hpp>

#include "text/words.hpp"

namespace holdfast::cli {

using namespace std::chrono_literals;

std::string onlooker::line(std::string_view name, std::string_view holder) {
  std::string text(name);
  if (!holder.empty()) text.append(", held by ").append(holder);
  return text;
}

void onlooker::on(const event& e) noexcept {
  try {
    if (e.what == event::kind::waiting || e.what == event::kind::left) {
      const std::lock_guard lock(mutex_);
      if (!e.why) holder_ = e.text;
      name_ = e.name;
      if (e.what == event::kind::left) ++refusals_;
      heard_.notify_all();
    }
    if (e.what == event::kind::waiting) tell_waiting(e);
    if (e.what == event::kind::revoke_requested) tell_request(e);
    note_renewals(e);
    if (e.what == event::kind::suspect) status_.tell("unanswered", {{"name", e.name}, {"why", e.text}});
    if (e.what == event::kind::suspect && verbose_) {
      say_in_words("a renewal got no answer; trying again: " + std::string(e.text));
    }
  } catch (const std::exception&) {  // no memory to tell with
  }
}

void onlooker::tell_request(const event& e) const {
  status_.tell("revoke_requested", {{"name", e.name}, {"fence", e.fence}, {"reason", e.text}});
  if (!verbose_) return;
  const std::string why = e.text.empty() ? "" : ": " + std::string(e.text);
  say_in_words("somebody asks for " + std::string(e.name) + why);
}

void onlooker::tell_waiting(const event& e) const {
  constexpr const char* ourselves = "it may be held by the run that this one is in, which ends only after this one";
  if (nested_) {
    status_.tell("waiting", {{"name", e.name}, {"holder", e.text}, {"why", ourselves}});
  } else {
    status_.tell("waiting", {{"name", e.name}, {"holder", e.text}});
  }
  if (verbose_) say_in_words("waiting for " + line(e.name, e.text));
  if (nested_ && !quiet_) say_in_words(ourselves);
}

void onlooker::note_renewals(const event& e) {
  const std::lock_guard lock(mutex_);
  if (e.what == event::kind::renewed) unrenewed_.clear();
  if (e.what == event::kind::suspect) unrenewed_ = e.text;
  if (e.what != event::kind::lost) return;
  loss_ = e.text;
  if (e.why == errc::unreachable && !unrenewed_.empty()) loss_ += ": " + unrenewed_;
  heard_.notify_all();
}

std::string onlooker::loss(boot_clock::duration at_most) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, at_most, [&] { return !loss_.empty(); });
  return loss_;
}

std::string onlooker::unrenewed() {
  const std::lock_guard lock(mutex_);
  return unrenewed_;
}

onlooker::waited_for onlooker::waits_for() {
  const std::lock_guard lock(mutex_);
  return {name_, holder_};
}

std::string onlooker::holder(int refusals) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, 1s, [&] { return refusals_ >= refusals; });
  return holder_;
}

}  // namespace holdfast::cli
