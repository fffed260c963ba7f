#include "holding/status.hpp"

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

int status::tell(std::string_view what, const std::vector<field>& more, std::chrono::milliseconds patience) const {
  return fd_ < 0 ? 0 : write_while_read(fd_, line(what, more), patience);
}

void teller::say(const std::string& line) const {
  if (!options_.quiet) say_in_words(line);
}

void teller::say_more(const std::string& line) const {
  if (options_.verbose) say(line);
}

int teller::acquired(const lease& held, std::chrono::milliseconds patience) const {
  json_value fences = json_value::object();
  for (const std::string& name : options_.names) fences[name] = held.fence(name);
  std::vector<status::field> all{{"name", what_}, {"fence", held.fence()}, {"owner", held.owner()}, {"fences", fences}};
  const bool needs_ttl = held.deadline() != boot_clock::time_point::max();
  if (needs_ttl) all.push_back({"ttl", std::chrono::duration<double>(options_.ttl).count()});
  const int why = status_.tell("acquired", all, patience);
  say_more("acquired " + what_ + ", fence " + std::to_string(held.fence()));
  return why;
}

void teller::started(pid_t pid) const { status_.tell("started", {{"pid", std::int64_t{pid}}}); }

void teller::ending(std::string_view why, bool by_max_hold) const {
  const std::string before = by_max_hold ? "" : "the lock ends soon, and cannot be renewed: ";
  say(what_ + ": " + before + std::string(why) + "; stopping the command");
  status_.tell("ending", {{"name", what_}, {"why", why}});
}

void teller::lost(std::uint64_t fence, std::string_view why) const {
  say(what_ + ": the lock was lost: " + std::string(why));
  status_.tell("lost", {{"name", what_}, {"fence", fence}, {"why", why}});
}

void teller::left_behind() const {
  say_more("ending what the command left behind");
  status_.tell("ending", {{"name", what_}, {"why", "the command left processes behind"}});
}

void teller::no_line(std::string_view why) const {
  say("the line of --on-lost cannot be run: " + std::string(why) + "; stopping the command");
}

void teller::not_allowed() const {
  say(what_ + ": the command has become another user's, whom we may not signal; waiting until it ends by itself");
}

void teller::exited(int wait_status) const {
  if (WIFEXITED(wait_status)) {
    status_.tell("exited", {{"code", std::int64_t{WEXITSTATUS(wait_status)}}});
  } else {
    status_.tell("exited", {{"signal", std::int64_t{WTERMSIG(wait_status)}}});
  }
}

void teller::keeping(std::chrono::milliseconds left) const {
  say_more("keeping " + what_ + " for " + std::to_string(left.count()) + "ms more (--min-hold)");
  status_.tell("keeping", {{"name", what_}, {"ms", std::int64_t{left.count()}}});
}

void teller::gave_back(released how) const {
  status_.tell("released", {{"certain", std::int64_t{how == released::yes}}});
}

void teller::uncertain(std::string_view why) const {
  say(what_ + ": the command ended, but the lock was not certain to be ours to the end: " + std::string(why));
}

int teller::end(int code, std::string_view cause, std::string_view why) const {
  if (why.empty()) {
    status_.tell("end", {{"exit", std::int64_t{code}}, {"cause", cause}});
  } else {
    status_.tell("end", {{"exit", std::int64_t{code}}, {"cause", cause}, {"why", why}});
  }
  return code;
}

int teller::end_wrong(int code, std::string_view cause, std::string_view why) const {
  say(std::string(why));
  return end(code, cause, why);
}

}  // namespace holdfast::cli
