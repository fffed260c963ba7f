#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/bounds.hpp"
#include "support/recorder.hpp"
#include "support/threads.hpp"

/// One text for every store. It knows the public API and this header; a store joins with one small file, which defines
/// a service and a `joined` object (see memory.cpp).
namespace holdfast::conformance {

using namespace std::chrono_literals;

/// What a store can do to itself, for tests that need it. A store without a power has fewer tests, and none is skipped.
enum class power {
  fall_silent,   ///< fall_silent(): no request is carried out, and nobody answers, until heal()
  lose_replies,  ///< lose_replies(): requests are carried out, and nobody answers, until heal()
  cut_replies,   ///< cut_replies(n): the next n requests of each kind are carried out, and the connection breaks
  lose_state,    ///< lose_state(): as after a restart without data
  list_names,    ///< names_left(): what the service still knows
  end_clients,   ///< kill_newest(): the client that was opened last is gone without a word
  share,         ///< readers and permits
  numbers,       ///< seam::cell
  oversee,       ///< store::list(), break_lock(), and what state says of grants and those who ask
  stop_clients,  ///< stop_newest(): it stands still, until continue_newest()
};

/// A lock service for one test, with nothing in it.
class service {
 public:
  service() = default;
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  virtual ~service() = default;

  /// One more client: what another process would have.
  [[nodiscard]] virtual store open(const open_options&) = 0;

  virtual void fall_silent() {}
  virtual void lose_replies() {}
  virtual void cut_replies(int) {}
  virtual void lose_state() {}
  virtual void heal() {}
  virtual void kill_newest() {}
  virtual void stop_newest() {}
  virtual void continue_newest() {}
  [[nodiscard]] virtual std::size_t names_left() { return 0; }
};

/// A store that takes part. Made once, as an object of the store's own file.
struct joined {
  std::string name;
  guarantees promises;
  std::set<power> powers;
  std::chrono::milliseconds brief;  ///< a ttl that is renewed in time on a busy machine, and soon over
  std::function<std::unique_ptr<service>()> open;

  joined(std::string, guarantees, std::set<power>, std::chrono::milliseconds,
         std::function<std::unique_ptr<service>()>);
  joined(const joined&) = delete;
  joined& operator=(const joined&) = delete;
};

/// The stores that have all of these powers; or those of them that keep two holders apart in this way.
[[nodiscard]] std::vector<const joined*> stores_with(const std::set<power>&,
                                                     std::optional<guarantees::exclusion> by = {});
[[nodiscard]] std::vector<const joined*> fair_stores();

/// A service, and clients of it. In the end nothing may be left behind.
class suite : public testing::TestWithParam<const joined*> {
 protected:
  suite();
  ~suite() override;

  /// The n-th client; opened when it is first asked for.
  store& client(std::size_t n = 0);
  [[nodiscard]] test::recorder& seen(std::size_t n = 0);
  /// Goes, with its handle; leases may keep it alive.
  void drop(std::size_t n);

  [[nodiscard]] bool is_free(std::string_view name);  ///< for a client that is used for nothing else
  [[nodiscard]] std::chrono::milliseconds brief() const { return GetParam()->brief; }

  std::unique_ptr<service> service_;

 private:
  struct opened {
    std::shared_ptr<test::recorder> seen;
    std::optional<store> handle;
  };
  opened& at(std::size_t n);
  std::deque<opened> clients_;
  opened onlooker_;
};

/// Runs on a thread of its own.
template <class F>
[[nodiscard]] auto in_background(F f) {
  return std::async(std::launch::async, std::move(f));
}

}  // namespace holdfast::conformance

/// Runs the tests of a fixture for the given stores.
#define HOLDFAST_FOR(fixture, stores)                                                                                 \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(fixture);                                                             \
  INSTANTIATE_TEST_SUITE_P(store, fixture, testing::ValuesIn(stores), [](const auto& it) { return it.param->name; }); \
  static_assert(true)
