#pragma once
#include <functional>
#include <memory>
#include <string>

#include "redis/inbox.hpp"
#include "redis/link.hpp"
#include "redis/script.hpp"
#include "redis/settings.hpp"
#include "runtime/loop.hpp"
#include "store/claim.hpp"

namespace holdfast::redis {

/// The store on one Redis or Valkey server: waiters stand in a queue there, and whoever releases a lock hands it to the
/// first of them that is alive, by one message.
class client final : public seam::backend, private listener {
 public:
  /// How the server is reached; who listens is told.
  using wiring = std::function<std::unique_ptr<link>(const identity&, listener&)>;
  /// `inbox` is 16 characters, never used by another client.
  client(const settings&, const std::string& inbox, const wiring&);
  /// Over sockets. Throws seam::failure.
  [[nodiscard]] static std::unique_ptr<client> open(const std::string& url, runtime::loop&);

  [[nodiscard]] std::unique_ptr<seam::claim> open(seam::claim_spec) override;
  void when_in_doubt(std::function<void()> verify) override;
  void close() noexcept override;
  [[nodiscard]] guarantees promises() const noexcept override;

 private:
  class place;
  void pushed(std::string_view message) override;
  void in_doubt() noexcept override;
  /// Runs a script, and loads it first where it must be. The command must outlive the call.
  [[nodiscard]] runtime::task<reply> run(runtime::io&, const script&, const command&, limit,
                                         std::optional<left_behind>&);

  const settings settings_;
  const std::string id_;       // of our inbox
  const std::string inboxes_;  // how channels begin
  inbox inbox_;
  std::function<void()> verify_;
  const std::unique_ptr<link> link_;
};

}  // namespace holdfast::redis
