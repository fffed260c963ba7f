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

/// One set of tests for every store. It knows the public API and this header; a store joins with one small file, which
/// defines a service and a `joined` object (see memory.cpp).
namespace holdfast::conformance {

using namespace std::chrono_literals;

/// The faults that a service can inject. A store without a power gets fewer tests; none is skipped.
enum class power {
  fall_silent,   ///< fall_silent(): no request is carried out or answered until heal()
  lose_replies,  ///< lose_replies(): requests are carried out but not answered until heal()
  cut_replies,   ///< cut_replies(n): the next n requests of each kind are carried out, and the connection breaks
  lose_state,    ///< lose_state(): as after a restart without data
  list_names,    ///< names_left(): the number of names that the service knows
  end_clients,   ///< kill_newest(): the client that was opened last dies without a release
  share,         ///< readers and permits
  numbers,       ///< storage::cell
  oversee,       ///< store::list(), break_lock(), and times and notes in state
  stop_clients,  ///< stop_newest(): the newest client is stopped until continue_newest()
};

/// A lock service for one test, with nothing in it.
class service {
 public:
  service() = default;
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  virtual ~service() = default;

  /// Opens one more client, like another process.
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

/// A store that takes part. Made once, as an object of the store's own file; a run of the program tests one of them.
struct joined {
  std::string name;
  guarantees promises;
  std::set<power> powers;
  std::chrono::milliseconds brief;  ///< a short ttl that is still renewed in time on a busy machine
  std::function<std::unique_ptr<service>()> open;

  joined(std::string, guarantees, std::set<power>, std::chrono::milliseconds,
         std::function<std::unique_ptr<service>()>);
  joined(const joined&) = delete;
  joined& operator=(const joined&) = delete;
};

/// The requirements of a fixture. A store that lacks one does not get the fixture's cases.
struct needs {
  std::set<power> powers;
  std::optional<guarantees::exclusion> by{};  ///< how the store excludes two holders
  bool fair = false;

  [[nodiscard]] bool met_by(const joined&) const;
};
[[nodiscard]] needs stores_with(std::set<power>, std::optional<guarantees::exclusion> by = {});
[[nodiscard]] needs fair_stores();

/// A service and its clients. At the end no lock and no waiter may be left.
class suite : public testing::Test {
 protected:
  suite();
  ~suite() override;

  /// The store that this run tests.
  [[nodiscard]] static const joined& joined_store();
  /// The n-th client; opened when it is first asked for.
  store& client(std::size_t n = 0);
  [[nodiscard]] test::recorder& seen(std::size_t n = 0);
  /// Drops the handle of the n-th client; leases may keep it alive.
  void drop(std::size_t n);

  [[nodiscard]] bool is_free(std::string_view name);  ///< according to a client that only this uses
  [[nodiscard]] std::chrono::milliseconds brief() const { return joined_store().brief; }

  std::unique_ptr<service> service_;

 private:
  struct opened {
    std::shared_ptr<test::recorder> seen;
    std::optional<store> handle;
  };
  opened& at(std::size_t n);
  std::deque<opened> clients_;
  opened observer_;
};

/// A case as its source declares it, with TEST_OF_STORES.
struct declared {
  const char* fixture;
  const char* name;
  const char* file;
  int line;
  needs (*of)();
  suite* (*make)();
};
/// Keeps the case for main(), which registers it with GoogleTest if the chosen store has what it needs. It is a plain
/// function and not TEST_P, whose templates for each fixture take longer to compile than the tests.
bool declare(const declared&);

/// Runs on a thread of its own.
template <class F>
[[nodiscard]] auto in_background(F f) {
  return std::async(std::launch::async, std::move(f));
}

}  // namespace holdfast::conformance

/// Selects the stores that get the tests of a fixture.
#define HOLDFAST_FOR(fixture, stores)                                                       \
  [[maybe_unused]] holdfast::conformance::needs needs_of(const fixture*) { return stores; } \
  static_assert(true)

/// A case: as TEST_F, for every store that HOLDFAST_FOR gives the fixture to.
#define TEST_OF_STORES(fixture, name)                                                                      \
  class fixture##_##name##_test : public fixture {                                                         \
    void TestBody() override;                                                                              \
  };                                                                                                       \
  [[maybe_unused]] const bool fixture##_##name##_declared = holdfast::conformance::declare(                \
      {#fixture, #name, __FILE__, __LINE__, [] { return needs_of(static_cast<const fixture*>(nullptr)); }, \
       []() -> holdfast::conformance::suite* { return new fixture##_##name##_test; }});                    \
  void fixture##_##name##_test::TestBody()
