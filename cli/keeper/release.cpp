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

class release_call {
 public:
  explicit release_call(const release_options& o) : options_(o) {}

  /// Asks the keeper before the store: the keeper is on this machine, while the store may be unreachable, or not the
  /// one that the keeper uses.
  int go() const {
    if (options_.owner.empty()) return look_up_keeper();
    const std::optional<int> code = ask_keeper_of(options_.owner);
    return code ? report(*code) : look_up_keeper();
  }

 private:
  [[nodiscard]] int look_up_keeper() const {
    const store in = options_.store.open({}, options_.quiet);
    const state is = in.inspect(options_.name.text());
    const auto meant = std::ranges::find_if(is.holders, [this](const auto& h) { return matches(h); });
    if (meant == is.holders.end()) return not_held(is);
    if (options_.owner.empty()) {
      if (const std::optional<int> code = ask_keeper_of(meant->owner)) return report(*code);
    }
    const state now = in.inspect(options_.name.text());  // the keeper may have ended meanwhile
    return std::ranges::find(now.holders, meant->owner, &state::holder::owner) != now.holders.end() ? no_keeper(*meant)
                                                                                                    : not_held({});
  }

  [[nodiscard]] int report(int code) const {
    if (code == fine) return fine;
    if (code == lost) return print("it was lost before it could be released", lost);
    if (code == usage) return print("its keeper holds another name for that owner", usage);
    return print("its keeper has ended, but the release is not confirmed", uncertain);
  }

  int print(const std::string& line, int code) const {
    if (!options_.quiet)
      std::fprintf(stderr, "holdfast: %s: %s\n", printable(options_.name.text()).c_str(), line.c_str());
    return code;
  }

  /// Readers and permit holders share a fence, so it does not identify one of them.
  [[nodiscard]] bool matches(const state::holder& h) const {
    if (!options_.owner.empty()) return h.owner == options_.owner;
    return h.fence == options_.fence && !h.reads && h.permits == 0;
  }

  [[nodiscard]] int not_held(const state& is) const {
    if (is.holders.empty()) return print("it is no longer held: it was lost, or released before", lost);
    return print("it is held by another client: " + holders_in_brief(is), busy);
  }

  /// Returns nothing if no keeper of this machine holds it, or none that accepts our requests.
  [[nodiscard]] std::optional<int> ask_keeper_of(const std::string& owner) const {
    try {
      return control_socket::send_release(owner, options_.name.text(), 10s);
    } catch (const std::system_error& e) {
      (void)print(e.what(), 0);
      return std::nullopt;
    }
  }

  [[nodiscard]] int no_keeper(const state::holder& h) const {
    return print("it is held by " + who(h) +
                     ", which is not a keeper that we can reach here; ask it with holdfast revoke " +
                     "NAME, or take it away with holdfast break NAME",
                 denied);
  }

  const release_options& options_;
};

}  // namespace

int release(const release_options& o) { return release_call(o).go(); }

}  // namespace holdfast::cli
