#pragma once
#include <memory>

#include "core/engine.hpp"
#include "runtime/task_group.hpp"
#include "sim/client_io.hpp"
#include "sim/plan.hpp"
#include "sim/service.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

constexpr runtime::span patience = std::chrono::milliseconds(300);

/// One process: its loop, and its users, who run on the loop or on threads of their own.
struct client {
  client(world& w, service& s, int id_, double rate, const plan& p)
      : id(id_),
        clock(w, rate, std::chrono::seconds(1 + w.below(1000))),
        loop(w, clock),
        threads(w, clock),
        io(p.blocking ? threads : loop),
        user([this](std::function<void()> f) { loop.post(std::move(f)); }, [](const char*) {}),
        way(s.connect(loop)),
        engine(way->store(), loop, user, core::reporter(nullptr), {.patience = patience, .burst = p.burst}),
        users(io) {}
  void pause(real until) {
    loop.pause(until);
    threads.pause(until);
  }
  const int id;
  const drifting_clock clock;
  client_io loop, threads;
  client_io& io;  ///< of its users
  runtime::executor user;
  const std::unique_ptr<access> way;
  core::engine engine;
  runtime::task_group users;
  bool crashed = false;
  core::silence silence;  // of its cells
};

}  // namespace holdfast::sim
