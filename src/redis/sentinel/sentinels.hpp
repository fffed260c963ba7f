#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "holdfast/limit.hpp"
#include "redis/protocol/settings.hpp"
#include "redis/sentinel/named_primary.hpp"
#include "redis/sentinel/sentinel_view.hpp"
#include "redis/transport/connection.hpp"
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

  /// What a message asks for.
  struct news {
    bool worth_a_question = false;
    std::optional<place> chosen;  ///< to be the next primary, by the one that tells it
  };

  /// The settings must outlive it, and their TLS files are loaded.
  explicit sentinels(const settings&);

  /// `moved` is called, from any thread, whenever the primary is another than before. Told once, before all else.
  void when_moved(std::function<void()> moved) { moved_ = std::move(moved); }

  [[nodiscard]] std::size_t count() const noexcept { return settings_.sentinels->at.size(); }
  /// Each is asked so often, so that it is once a second in all.
  [[nodiscard]] milliseconds between_questions() const noexcept;

  /// Asks them in turn, and first the one that answered last. Blocks; throws storage::failure, with the cure.
  [[nodiscard]] primary find(const limit&);
  /// A connection to that one, which takes question(), and from now on tells of every change; unless the user may not
  /// subscribe: then `refusal` says so. Blocks; throws storage::failure, net::broken, malformed.
  [[nodiscard]] std::unique_ptr<connection> subscribe(std::size_t which, const limit&, std::string& refusal) const;
  /// Both replies to it are wanted.
  [[nodiscard]] command question() const;
  /// Both replies. The epoch in which it names the primary; nothing: they make no sense.
  std::optional<std::int64_t> hear(const value& service, const value& at);
  [[nodiscard]] news read(const value& message) const;
  /// One of them has chosen that server, in this epoch, and it leads by its own word.
  void promoted(place at, std::int64_t epoch) { (void)know({std::move(at), epoch, true}); }
  /// It cannot be used. True: no sentinel has named it, and find() may find another.
  [[nodiscard]] bool doubt(const place&);
  /// What each of them says, one after the other. Blocks.
  [[nodiscard]] std::vector<sentinel_view> views(const limit&) const;

 private:
  struct knowledge {
    std::size_t first = 0;  ///< to be asked next
    named_primary primary;
    std::stop_source moved;
  };
  [[nodiscard]] named_primary::word ask_in_turn(const limit&);
  [[nodiscard]] limit share_of(const limit&) const;
  [[nodiscard]] std::unique_ptr<connection> greet(const place&, const limit&) const;
  [[nodiscard]] command question_of_service() const;
  [[nodiscard]] command question_of_place() const;
  [[nodiscard]] named_primary::word ask(connection&, const limit&) const;
  void look(const place&, sentinel_view&, const limit&) const;
  primary know(named_primary::word);

  const settings& settings_;
  std::function<void()> moved_;
  runtime::guarded<knowledge> known_;
};

}  // namespace holdfast::redis
