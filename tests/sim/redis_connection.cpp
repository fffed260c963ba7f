#include "sim/redis_connection.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace holdfast::sim {

using namespace std::chrono_literals;

redis_connection::redis_connection(world& w, network& n, redis_server& s, client_io& loop)
    : world_(w), network_(n), server_(s), loop_(loop) {}

void redis_connection::open(callbacks c) {
  callbacks_ = std::move(c);
  open_ = true;
  const std::weak_ptr<redis_connection> weak = weak_from_this();
  there_ = server_.accept(
      [weak](std::string bytes) {
        if (const auto self = weak.lock()) self->receive(std::move(bytes));
      },
      [weak] {
        if (const auto self = weak.lock(); self && !self->silent_) self->post_break();
      });
}

real redis_connection::in_turn(real& last, real delay) const {
  last = std::max(last, world_.now() + delay);
  return last;
}

void redis_connection::send(const std::string& bytes) {
  if (silent_ || !open_) return;
  const std::optional<real> delay = network_.piece();
  if (!delay) return go_silent();
  // Data is sometimes sent in two pieces, so that a command may end in the middle of one.
  const std::size_t cut = world_.chance(0.1) ? world_.below(bytes.size()) : 0;
  for (const std::string& piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
    if (piece.empty()) continue;
    world_.at(in_turn(last_up_, *delay), [self = shared_from_this(), piece] {
      if (!self->silent_) self->server_.receive(self->there_, piece);
    });
  }
}

/// Takes bytes from the server.
void redis_connection::receive(std::string bytes) {
  if (silent_ || !open_) return;
  const std::optional<real> delay = network_.piece();
  if (!delay) return go_silent();
  world_.at(in_turn(last_down_, *delay), [self = shared_from_this(), bytes = std::move(bytes)] {
    if (self->silent_ || !self->open_) return;
    self->loop_.post([self, bytes] {
      self->decoder_.feed(bytes);
      while (self->open_) {
        std::optional<redis::value> v = self->decoder_.next();
        if (!v) return;
        self->callbacks_.received(std::move(*v));
      }
    });
  });
}

/// Data was lost permanently. Either both ends notice it soon, or the client only when a reply does not come, and the
/// server, which counts the client as a listener until then, at any time.
void redis_connection::go_silent() {
  if (std::exchange(silent_, true)) return;
  world_.note("cut", there_);
  if (world_.chance(0.5)) {
    end_at_server(world_.now() + world_.between(0ms, 5ms));
    world_.in(world_.between(0ms, 5ms), [self = shared_from_this()] { self->post_break(); });
  } else {
    end_at_server(world_.now() + world_.between(0ms, 2s));
  }
}

void redis_connection::post_break() {
  world_.at(in_turn(last_down_, world_.between(30us, 2ms)), [self = shared_from_this()] {
    self->loop_.post([self] {
      if (std::exchange(self->open_, false)) self->callbacks_.broke();
    });
  });
}

void redis_connection::end_at_server(real when) {
  world_.at(when, [self = shared_from_this()] { self->server_.closed(self->there_); });
}

bool redis_connection::is_prompt() const noexcept {
  return open_ && !silent_ && last_up_ <= world_.now() + 2ms && network_.now.lose == 0 && network_.now.late == 0;
}

void redis_connection::close() {
  if (!std::exchange(open_, false)) return;
  if (!silent_) end_at_server(in_turn(last_up_, world_.between(30us, 2ms)));  // after all that is under way
}

void redis_connection::crash(real noticed_after) {
  open_ = false;
  if (!silent_) end_at_server(in_turn(last_up_, noticed_after));
}

}  // namespace holdfast::sim
