#include "hold/status.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/io.hpp"

namespace holdfast::cli {

status::status(int fd) noexcept : fd_(fd) {
  if (fd > STDERR_FILENO) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::string status::line(std::string_view what, const std::vector<field>& more) {
  using clock = std::chrono::system_clock;
  json_value line;
  line["event"] = what;
  line["time"] = std::chrono::duration<double>(clock::now().time_since_epoch()).count();
  for (const field& f : more) line[f.name] = f.value;
  return line.dump(json_value::charset::utf8) + "\n";
}

int status::write(std::string_view what, const std::vector<field>& more, std::chrono::milliseconds patience) const {
  return fd_ < 0 ? 0 : write_with_timeout(fd_, line(what, more), patience);
}

void reporter::say(const std::string& line) const {
  if (!options_.quiet) print_message(line);
}

void reporter::say_more(const std::string& line) const {
  if (options_.verbose) say(line);
}

int reporter::acquired(const lease& held, std::chrono::milliseconds patience) const {
  json_value fences = json_value::object();
  for (const std::string& name : options_.names) fences[name] = held.fence(name);
  std::vector<status::field> all{{"name", what_}, {"fence", held.fence()}, {"owner", held.owner()}, {"fences", fences}};
  const bool needs_ttl = held.deadline() != boot_clock::time_point::max();
  if (needs_ttl) all.push_back({"ttl", std::chrono::duration<double>(options_.ttl).count()});
  const int why = status_.write("acquired", all, patience);
  say_more("acquired " + what_ + ", fence " + std::to_string(held.fence()));
  return why;
}

void reporter::started(pid_t pid) const { status_.write("started", {{"pid", std::int64_t{pid}}}); }

void reporter::ending(std::string_view why, bool by_max_hold) const {
  const std::string before = by_max_hold ? "" : "the lock is about to end and cannot be renewed: ";
  say(what_ + ": " + before + std::string(why) + "; stopping the command");
  status_.write("ending", {{"name", what_}, {"why", why}});
}

void reporter::lost(std::uint64_t fence, std::string_view why) const {
  say(what_ + ": the lock was lost: " + std::string(why));
  status_.write("lost", {{"name", what_}, {"fence", fence}, {"why", why}});
}

void reporter::left_behind() const {
  say_more("stopping what the command left behind");
  status_.write("ending", {{"name", what_}, {"why", "the command left processes behind"}});
}

void reporter::hook_failed(std::string_view why) const {
  say("the line of --on-lost cannot be run: " + std::string(why) + "; stopping the command");
}

void reporter::not_allowed() const {
  say(what_ + ": not allowed to signal the command, which runs as another user; waiting until it ends");
}

void reporter::exited(int wait_status) const {
  if (WIFEXITED(wait_status)) {
    status_.write("exited", {{"code", std::int64_t{WEXITSTATUS(wait_status)}}});
  } else {
    status_.write("exited", {{"signal", std::int64_t{WTERMSIG(wait_status)}}});
  }
}

void reporter::keeping(std::chrono::milliseconds left) const {
  say_more("keeping " + what_ + " for " + std::to_string(left.count()) + "ms more (--min-hold)");
  status_.write("keeping", {{"name", what_}, {"ms", std::int64_t{left.count()}}});
}

void reporter::released_as(released how) const {
  status_.write("released", {{"certain", std::int64_t{how == released::yes}}});
}

void reporter::uncertain(std::string_view why) const {
  say(what_ + ": the command ended, but the lock may have been lost before that: " + std::string(why));
}

int reporter::end(int code, std::string_view cause, std::string_view why) const {
  if (why.empty()) {
    status_.write("end", {{"exit", std::int64_t{code}}, {"cause", cause}});
  } else {
    status_.write("end", {{"exit", std::int64_t{code}}, {"cause", cause}, {"why", why}});
  }
  return code;
}

int reporter::end_wrong(int code, std::string_view cause, std::string_view why) const {
  say(std::string(why));
  return end(code, cause, why);
}

}  // namespace holdfast::cli
