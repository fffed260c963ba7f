#include "top/lookout.hpp"

#include <exception>

#include "looking/pages.hpp"

namespace holdfast::cli {

lookout::lookout(store s, std::string prefix, std::chrono::milliseconds interval)
    : store_(std::move(s)),
      prefix_(std::move(prefix)),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

lookout::~lookout() {
  thread_.request_stop();
  store_.close();  // what it waits for ends at once
}

template <class Change>
void lookout::tell(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(news_);
  }
  told_.set();
}

lookout::news lookout::take() {
  told_.take();
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void lookout::look_at(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (closer_ == name) return;
  closer_ = name;
  look_now_ = true;
  wanted_.notify_one();
}

void lookout::ask(top_request r) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(r));
  wanted_.notify_one();
}

void lookout::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!requests_.empty()) {
      const top_request next = std::move(requests_.front());
      requests_.pop_front();
      lock.unlock();
      const std::string done = perform(next);
      tell([&](news& n) { n.done = done; });
      lock.lock();
      look_now_ = true;
    }
    if (look_now_) {
      look_now_ = false;
      const std::string closer = closer_;
      lock.unlock();
      try {
        if (!closer.empty()) look_closer(closer);
        look(stop);
        tell([](news& n) { n.trouble = ""; });
      } catch (const std::exception& e) {
        tell([&](news& n) { n.trouble = e.what(); });
      }
      lock.lock();
    }
    wanted_.wait_for(lock, stop, interval_, [&] { return look_now_ || !requests_.empty(); });
    if (requests_.empty()) look_now_ = true;
  }
}

void lookout::look(const std::stop_token& stop) {
  std::vector<listing::entry> all;
  for_each_page(store_, prefix_, [&](const std::vector<listing::entry>& page) {
    all.insert(all.end(), page.begin(), page.end());
    return !stop.stop_requested();
  });
  tell([&](news& n) { n.names = std::move(all); });
}

void lookout::look_closer(const std::string& name) {
  state seen = store_.inspect(name);
  tell([&](news& n) { n.details.emplace(name, std::move(seen)); });
}

std::string lookout::perform(const top_request& r) {
  try {
    if (r.what == top_request::kind::revoke) {
      return store_.revoke(r.name, r.reason) ? "asked to let go of " + r.name : "nobody holds it";
    }
    const bool by_owner = r.from.fence == 0 || r.from.permits != 0;
    const bool taken = store_.break_lock(r.name, by_owner ? 0 : r.from.fence, r.reason, by_owner ? r.from.owner : "");
    return taken ? "taken by force: " + r.name : "it is not held by that one any more; nothing is taken";
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace holdfast::cli
