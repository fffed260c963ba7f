#include "core/engine.hpp"

#include <algorithm>

namespace holdfast::core {

engine::engine(storage::backend& backend, io& loop, runtime::executor& user, reporter report, settings s)
    : backend_(backend),
      loop_(loop),
      user_(user),
      report_(std::move(report)),
      settings_(s),
      drops_by_itself_(backend.promises().by == guarantees::exclusion::lease),
      tasks_(loop) {
  backend_.start(*this);
}

void engine::warning(std::string_view text) noexcept {
  report_.tell(user_, {.what = event::kind::warning, .name = {}, .text = text});
}

void engine::start_once() {
  const std::lock_guard one_at_a_time(starting_);
  if (started_) return;
  loop_.start();
  spawn(keep());
  started_ = true;
}

std::size_t engine::kept() const noexcept {
  return schedule_.with([](const schedule& s) { return s.holds.size(); });
}

asked_cell engine::open_cell(std::string name, bool until_closed) {
  return asked_cell(backend_.open_cell(std::move(name)), settings_.patience, silence_,
                    until_closed ? closing_.get_token() : std::stop_token());
}

}  // namespace holdfast::core
