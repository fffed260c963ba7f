#include "keeper/keeper.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "exit_code.hpp"
#include "holding/holder.hpp"
#include "keeper/door.hpp"

namespace holdfast::cli {

namespace {

std::string program_of(pid_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

/// The caller has it in writing what we hold. False: it is gone, or was told to stop, and nobody knows of us.
bool is_answered(int caller, holder& mine) {
  if (mine.wait(caller) != holder::cause::asked) return false;
  char word = 0;
  return ::recv(caller, &word, 1, MSG_DONTWAIT) == 1;
}

bool is_held(const acquire_options& o, const std::string& name) {
  return std::ranges::find(o.hold.names, name) != o.hold.names.end();
}

/// Release is told of the loss, and not that we hold it; by us, or by the store when it has forgotten us.
void linger_after_loss(const acquire_options& o, holder& mine, const door& ours) {
  mine.linger(ours.fd(), [&] {
    const std::optional<door::visitor> who = ours.open();
    if (!who) return false;
    const bool is_ours = is_held(o, who->name);
    door::reply(*who, is_ours ? lost : usage);
    return is_ours;
  });
}

int keep_until_over(const acquire_options& o, process_end& whom, holder& mine, const door& ours) {
  for (;;) {
    const holder::cause why = mine.wait(ours.fd());
    if (why == holder::cause::asked) {
      const std::optional<door::visitor> who = ours.open();
      if (!who) continue;
      if (!is_held(o, who->name)) {
        door::reply(*who, usage);
        continue;
      }
      const int code = mine.give_back(why);
      door::reply(*who, code);
      return code;
    }
    const int code = mine.give_back(why);
    if (code == lost && o.on_lost != 0) (void)whom.signal(o.on_lost);
    if (code == lost) linger_after_loss(o, mine, ours);
    return code;
  }
}

}  // namespace

int keep(const acquire_options& o, process_end& whom, int caller) {
  const status told(caller);
  const std::string label = o.hold.label_for("keeper for " + program_of(whom.pid()) + " " + std::to_string(whom.pid()));
  holder mine(o.hold, told, whom, label);
  if (const int not_had = mine.acquire(); not_had >= 0) return not_had;
  const door ours(mine.held().owner());
  ::prctl(PR_SET_PDEATHSIG, 0);  // the caller ends, and we stay
  turn_to_null(STDERR_FILENO);   // nothing of the caller's stays in our hands: somebody may wait for the end of a pipe
  mine.tell_acquired();
  if (!is_answered(caller, mine)) return mine.give_back(holder::cause::over);
  turn_to_null(caller);
  [[maybe_unused]] const int away = ::chdir("/");  // somebody may want to unmount where we were
  return keep_until_over(o, whom, mine, ours);
}

}  // namespace holdfast::cli
