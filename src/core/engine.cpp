#include "core/engine.hpp"

namespace holdfast::core {

engine::engine(storage::backend& backend, io& loop, runtime::executor& user, reporter report, settings s)
    : env_(backend, loop, user, std::move(report), s.patience),
      burst_(s.burst),
      renewer_(env_, [this](const std::shared_ptr<holding>& h, instant now, loss how) { lose(h, now, how); }) {
  backend.start(*this);
}

void engine::start_once() {
  const std::lock_guard one_at_a_time(starting_);
  if (started_) return;
  env_.loop.start();
  spawn(renewer_.run());
  started_ = true;
}

reliable_cell engine::open_cell(std::string name, bool until_closed) {
  return reliable_cell(env_.backend.open_cell(std::move(name)), env_.patience, env_.store_silence,
                       until_closed ? env_.closing.get_token() : std::stop_token());
}

}  // namespace holdfast::core
