#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "holdfast/limit.hpp"
#include "net/tls.hpp"
#include "redis/connection.hpp"
#include "redis/sentinel_view.hpp"
#include "redis/settings.hpp"
#include "runtime/guarded.hpp"

namespace holdfast::redis {

/// Where the primary of a service is, as its sentinels say. From any thread.
class sentinels {
 public:
  using place = net::url::place;
  struct primary {
    place at;
    std::stop_token moved;  ///< stops as soon as it is another
  };

  /// What is given must outlive it; no tls: plain words.
  sentinels(const settings& s, const net::tls* tls) : settings_(s), tls_(tls) {}

  /// `moved` is called, from any thread, whenever the primary is another than before. Told once, before all else.
  void when_moved(std::function<void()> moved) { moved_ = std::move(moved); }

  /// Asks them in turn, and first the one that answered last. Blocks; throws seam::failure, with the cure.
  [[nodiscard]] primary find(const limit&);
  /// A connection to one of them, which from now on tells of every switch, and takes question() besides. The same.
  [[nodiscard]] std::unique_ptr<connection> subscribe(const limit&);
  [[nodiscard]] command question() const;
  /// What each of them says, one after the other. Blocks.
  [[nodiscard]] std::vector<sentinel_view> views(const limit&) const;
  /// What came on that connection: an answer to the question, or a message. False: it was no answer.
  bool hear(const value&);

 private:
  struct knowledge {
    std::size_t first = 0;  ///< to be asked next
    place at;               ///< no host: nobody knows yet
    std::stop_source moved;
  };
  template <class F>
  [[nodiscard]] auto in_turn(const limit&, F use);
  [[nodiscard]] std::unique_ptr<connection> greet(const place&, const limit&) const;
  [[nodiscard]] place ask(connection&, const limit&) const;
  void look(const place&, sentinel_view&, const limit&) const;
  primary know(place);

  const settings& settings_;
  const net::tls* const tls_;
  std::function<void()> moved_;
  runtime::guarded<knowledge> known_;
};

}  // namespace holdfast::redis
