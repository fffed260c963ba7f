#pragma once
#include <memory>

#include "core/engine.hpp"
#include "runtime/nursery.hpp"
#include "sim/client_io.hpp"
#include "sim/plan.hpp"
#include "sim/service.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

constexpr runtime::span patience = std::chrono::milliseconds(300);

/// One process: the loop at home, and its users, who may be there too or on threads of their own.
struct client {
  client(world& w, service& s, int id_, double rate, const plan& p)
      : id(id_),
        clock(w, rate, std::chrono::seconds(1 + w.below(1000))),
        home(w, clock),
        threads(w, clock),
        io(p.blocking ? threads : home),
        user([this](std::function<void()> f) { home.post(std::move(f)); }, [](const char*) {}),
        way(s.connect(home)),
        engine(way->store(), home, user, core::reporter(nullptr), {.patience = patience, .burst = p.burst}),
        users(io) {}
  void pause(real until) {
    home.pause(until);
    threads.pause(until);
  }
  const int id;
  const drifting_clock clock;
  client_io home, threads;
  client_io& io;  ///< of its users
  runtime::executor user;
  const std::unique_ptr<access> way;
  core::engine engine;
  runtime::nursery users;
  bool crashed = false;
  core::silence silence;  // of its cells
};

}  // namespace holdfast::sim
