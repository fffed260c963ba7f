#include "onlooker.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <holdfast/error.hpp>

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

std::string held_by(std::string_view name, std::string_view holder) {
  std::string line(name);
  if (!holder.empty()) line.append(", held by ").append(holder);
  return line;
}

}  // namespace

void onlooker::on(const event& e) noexcept {
  try {
    if (e.what == event::kind::waiting || e.what == event::kind::left) {
      const std::lock_guard lock(mutex_);
      (e.why ? trouble_ : holder_) = e.text;
      if (e.what == event::kind::left) ++refusals_;
      heard_.notify_all();
    }
    if (e.what == event::kind::waiting) {
      status_.tell("waiting", {{"name", e.name}, {"holder", e.text}});
      if (verbose_) std::fprintf(stderr, "holdfast: waiting for %s\n", held_by(e.name, e.text).c_str());
      if (nested_) {
        std::fprintf(stderr,
                     "holdfast: it may be held by the run that this one is in, which ends only after this one\n");
      }
    }
    note_renewals(e);
    if (e.what == event::kind::suspect && verbose_) {
      std::fprintf(stderr, "holdfast: a renewal got no answer; trying again: %.*s\n", static_cast<int>(e.text.size()),
                   e.text.data());
    }
  } catch (const std::exception&) {  // no memory to tell with
  }
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

std::string onlooker::loss(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, within, [&] { return !loss_.empty(); });
  return loss_;
}

std::string onlooker::unrenewed() {
  const std::lock_guard lock(mutex_);
  return unrenewed_;
}

std::string onlooker::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

std::string onlooker::busy_line(std::string_view name, int refusals) {
  std::unique_lock lock(mutex_);
  heard_.wait_for(lock, 1s, [&] { return refusals_ >= refusals; });
  return held_by(name, holder_);
}

}  // namespace holdfast::cli
