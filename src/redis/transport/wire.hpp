#pragma once
#include <string>

#include "redis/protocol/link.hpp"
#include "redis/sentinel/sentinel_watch.hpp"
#include "redis/transport/clock_steps.hpp"
#include "redis/transport/connection.hpp"
#include "redis/transport/lanes.hpp"
#include "redis/transport/main_line.hpp"
#include "runtime/loop.hpp"
#include "runtime/queue_thread.hpp"

namespace holdfast::redis {

/// The link over sockets: lanes for blocking callers, the main line for the loop. While the main line gets no
/// connection, for example because no descriptor is left, a lane that is open does its work.
class wire final : public link {
 public:
  /// Connects when first used. Throws as dialer does.
  wire(settings, const identity&, runtime::loop&, listener&);

  runtime::task<reply> call(runtime::io&, const command&, limit, std::optional<abandoned_command>*) override;
  void follow(const abandoned_command& where, const command& what) noexcept override { lanes_.follow(where, what); }
  [[nodiscard]] bool listens(const std::string&) const noexcept override { return main_.listens(); }
  runtime::task<std::optional<storage::failure>> listen(runtime::io& i, const std::string&, limit l) override {
    start_watch();
    return main_.listen(i, std::move(l));
  }
  [[nodiscard]] std::uint64_t connection_number() const noexcept override { return main_.connection_number(); }
  void post(const command& what) override { main_.post(what); }
  /// For a cluster, whose nodes have one each.
  [[nodiscard]] main_line& main() noexcept { return main_; }
  [[nodiscard]] const main_line& main() const noexcept { return main_; }
  void close() noexcept override;

 private:
  [[nodiscard]] reply call_by_lane(const command&, const limit&, std::optional<abandoned_command>*);
  runtime::task<reply> call_on_loop(runtime::io&, const command&, limit, std::optional<abandoned_command>*);
  runtime::task<bool> connect_for_half(runtime::io&, limit);
  runtime::task<std::optional<reply>> call_by_open_lane(runtime::io&, const command&, limit,
                                                        std::optional<abandoned_command>*);
  [[nodiscard]] runtime::queue_thread& thread_for_lanes();
  void start();
  void start_watch();
  void look_at_clock(const command&, const reply&, runtime::instant sent, runtime::instant received);
  runtime::task<void> tidy();
  runtime::loop& loop_;
  listener& listener_;
  clock_steps clock_;
  dialer dialer_;
  lanes lanes_;
  main_line main_;
  std::optional<sentinel_watch> watch_;
  const std::optional<command> introduction_;
  std::atomic<bool> introduced_;        // by a lane; the main line does it again and again
  std::atomic<bool> can_renew_{false};  // the main line has its thread
  std::atomic<bool> tidies_{false};
  std::atomic<bool> watches_{false};
  std::stop_source ending_;
  runtime::queue_thread lane_calls_{"holdfast-lanes"};  // of the loop, which must not block
  runtime::nursery tasks_{loop_};
};

}  // namespace holdfast::redis
