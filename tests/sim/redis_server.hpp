#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/codec.hpp"
#include "sim/client_io.hpp"
#include "sim/redis_audit.hpp"
#include "sim/redis_keys.hpp"
#include "sim/redis_lua.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// A Redis server: connections that speak its protocol, keys that run out by its own clock, sharded channels, and our
/// scripts, run by Lua. A restart cuts the connections and forgets scripts and subscriptions; its keys it keeps or not.
class redis_server {
 public:
  using connection = std::uint64_t;
  struct choices {
    bool push_first;   ///< a client that publishes to itself gets the message before its reply (Redis 7.0) or after
                       ///< (Valkey)
    bool in_order;     ///< no fault of this run changes the order of a queue
    bool fair = true;  ///< a newcomer does not get a free lock while others wait
    bool writes_at_once = false;  ///< writes to disk before it answers, and reports that it does
    std::chrono::seconds age{0};  ///< when the world begins
  };
  redis_server(world&, drifting_clock, choices);

  /// `say` takes what goes to the client; `hang_up` is called when the server ends the connection.
  [[nodiscard]] connection accept(std::function<void(std::string)> say, std::function<void()> hang_up);
  void receive(connection, std::string_view bytes);
  void closed(connection);  ///< by the client, or the network: the server has noticed it

  void restart(bool with_data);
  void flush_scripts();
  void set_clock(real by);                                    ///< forwards, or back
  void stand_still_until(real);                               ///< requests that arrive before are carried out then
  void load_data_until(real when) { loading_until_ = when; }  ///< until then it accepts only subscriptions
  void be_full_until(real when) { full_until_ = when; }       ///< until then it runs only scripts with allow-oom
  /// Makes this server a replica or a demoted primary, which refuses writes.
  void only_read(bool so) { only_reads_ = so; }
  /// Replaces its data with a copy.
  void copy(const redis_keys& from) { keys_ = from; }
  /// The history that its data belong to, as in `INFO replication`. A promotion begins another one with a new number; a
  /// replica has that of its primary.
  [[nodiscard]] std::string history() const;
  void begin_history(std::uint64_t promotion) { promotion_ = promotion; }
  void share_history(const redis_server& primary) {
    promotion_ = primary.promotion_;
    starts_ = primary.starts_;
  }
  /// The number of scripts that the server has run.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  /// Its replica has what was written until then.
  void acknowledge(std::uint64_t written);
  void has_no_replica() { acknowledged_.reset(); }
  /// Another library takes the lock, if it is free.
  void take_for_another(const std::string& lock, std::chrono::milliseconds ttl);

  [[nodiscard]] wall_time now() const;
  [[nodiscard]] const redis_keys& keys() const noexcept { return keys_; }
  [[nodiscard]] redis_audit& audit() noexcept { return audit_; }
  /// The locks that are held now.
  [[nodiscard]] std::string leftovers() const;

  /// One run of one of our scripts, with what stood in its first key before and after it.
  struct script_run {
    std::string_view sha;
    const std::vector<std::string>& keys;
    const std::vector<std::string>& args;
    std::optional<redis_keys::cell> before, after;
    const redis::value& reply;
  };
  /// Called for each run, for checks.
  std::function<void(const script_run&)> on_script = [](const script_run&) {};

 private:
  struct peer {
    std::function<void(std::string)> say;
    std::function<void()> hang_up;
    redis::decoder decoder{};
    std::set<std::string> channels{};
    std::optional<std::uint64_t> waits_for{};  ///< no command runs until a replica has this much
  };
  using words = std::vector<std::string>;
  void serve(connection);
  [[nodiscard]] bool begin_to_wait(connection, peer&, const words&);
  void end_wait(connection, std::int64_t replicas);
  redis::value carry_out(connection, peer&, const words&);
  redis::value evalsha(const words&);
  redis::value run(const std::string& sha, const words& keys, const words& args);
  [[nodiscard]] std::string info() const;
  [[nodiscard]] std::optional<std::string> refusal(const std::string& sha) const;
  [[nodiscard]] std::string told(const redis_step&, const redis::value& reply) const;
  redis::value in_script(const words&);
  redis::value spublish(const words&);
  redis::value load(const std::string& text);
  [[nodiscard]] std::int64_t listeners_at(const std::string& channel) const;

  world& world_;
  const drifting_clock clock_;
  const choices choices_;
  real set_forward_{0};
  real loading_until_{0}, full_until_{0}, still_until_{0};
  std::int64_t started_;  // by its clock, in s
  std::uint64_t promotion_ = 0, starts_ = 0;
  std::set<std::string> allow_oom_;  // scripts
  redis_keys keys_;
  redis_lua lua_;
  bool only_reads_ = false;
  std::uint64_t written_ = 0;
  std::optional<std::uint64_t> acknowledged_;
  connection last_connection_ = 0;
  std::map<connection, peer> peers_;
  std::vector<std::pair<connection, std::string>> messages_;  // of the command that is being carried out
  std::string inboxes_;                                       // of the script that runs
  redis_audit audit_;
};

}  // namespace holdfast::sim
