#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <holdfast/holdfast.hpp>
#include <system_error>

#include "exit_code.hpp"
#include "keeper/keeper.hpp"
#include "text/state.hpp"
#include "text/utf8.hpp"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

class releasing {
 public:
  explicit releasing(const release_options& o) : options_(o) {}

  /// A keeper is on this machine, and knows better than the store, which may be another one than we think, or silent.
  int go() const {
    if (options_.owner.empty()) return ask_the_store();
    const std::optional<int> code = tell_keeper_of(options_.owner);
    return code ? told(*code) : ask_the_store();
  }

 private:
  [[nodiscard]] int ask_the_store() const {
    const store in = options_.store.open({}, options_.quiet);
    const state is = in.inspect(options_.name.text());
    const auto meant = std::ranges::find_if(is.holders, [this](const auto& h) { return is_meant(h); });
    if (meant == is.holders.end()) return not_held(is);
    if (options_.owner.empty()) {
      if (const std::optional<int> code = tell_keeper_of(meant->owner)) return told(*code);
    }
    const state now = in.inspect(options_.name.text());  // a keeper may have gone meanwhile
    return std::ranges::find(now.holders, meant->owner, &state::holder::owner) != now.holders.end() ? no_keeper(*meant)
                                                                                                    : not_held({});
  }

  [[nodiscard]] int told(int code) const {
    if (code == fine) return fine;
    if (code == lost) return say("it was lost before it could be given back", lost);
    if (code == usage) return say("its keeper holds another name for that owner", usage);
    return say("its keeper is gone, but whether it was given back is not certain", uncertain);
  }

  int say(const std::string& line, int code) const {
    if (!options_.quiet)
      std::fprintf(stderr, "holdfast: %s: %s\n", printable(options_.name.text()).c_str(), line.c_str());
    return code;
  }

  /// The fence of readers and of permits is not theirs alone.
  [[nodiscard]] bool is_meant(const state::holder& h) const {
    if (!options_.owner.empty()) return h.owner == options_.owner;
    return h.fence == options_.fence && !h.reads && h.permits == 0;
  }

  [[nodiscard]] int not_held(const state& is) const {
    if (is.holders.empty()) return say("it is not held any more: it was lost, or given back before", lost);
    return say("it is held by another: " + holders_in_brief(is), busy);
  }

  /// Nothing: no keeper of this machine holds it, or none that listens to us.
  [[nodiscard]] std::optional<int> tell_keeper_of(const std::string& owner) const {
    try {
      return door::knock(owner, options_.name.text(), 10s);
    } catch (const std::system_error& e) {
      (void)say(e.what(), 0);
      return std::nullopt;
    }
  }

  [[nodiscard]] int no_keeper(const state::holder& h) const {
    return say("it is held by " + who(h) +
                   ", which is no keeper that listens to us here; ask it with holdfast revoke " +
                   "NAME, or take it away with holdfast break NAME",
               denied);
  }

  const release_options& options_;
};

}  // namespace

int release(const release_options& o) { return releasing(o).go(); }

}  // namespace holdfast::cli
