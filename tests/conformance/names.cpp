#include "conformance/odd_names.hpp"
#include "conformance/suite.hpp"

namespace holdfast::conformance {
namespace {

class names : public suite {};
HOLDFAST_FOR(names, stores_with({}));

TEST_OF_STORES(names, of_any_bytes_but_nul_are_locked_and_freed) {
  for (const std::string& name : odd_names()) {
    lease held = client(0).acquire(name);
    EXPECT_TRUE(held.held()) << testing::PrintToString(name);
    EXPECT_EQ(held.name(), name);
    EXPECT_FALSE(client(1).try_acquire(name)) << testing::PrintToString(name);
    EXPECT_TRUE(held.renew(10s)) << testing::PrintToString(name);
    EXPECT_EQ(held.release(), released::yes) << testing::PrintToString(name);
    EXPECT_TRUE(client(1).try_acquire(name)) << testing::PrintToString(name);
  }
}

TEST_OF_STORES(names, that_differ_in_one_byte_are_different_locks) {
  std::vector<lease> all;
  for (const std::string& name : odd_names()) {
    std::optional<lease> held = client(0).try_acquire(name);
    ASSERT_TRUE(held) << testing::PrintToString(name) << " is mistaken for another name";
    all.push_back(std::move(*held));
  }
  for (const lease& held : all) EXPECT_TRUE(held.held());
  for (lease& held : all) EXPECT_EQ(held.release(), released::yes) << testing::PrintToString(held.name());
}

TEST_OF_STORES(names, of_any_bytes_wake_their_waiters) {
  std::vector<lease> all;
  std::vector<std::future<bool>> waiting;
  for (const std::string& name : odd_names()) {
    all.push_back(client(0).acquire(name, {.ttl = 1h}));
    waiting.push_back(
        in_background([s = client(1), name]() mutable { return s.try_acquire(name, within(1h)).has_value(); }));
  }
  EXPECT_TRUE(seen(1).comes(event::kind::waiting, odd_names().size()));
  for (lease& held : all) EXPECT_EQ(held.release(), released::yes);
  for (auto& w : waiting) EXPECT_TRUE(test::get(std::move(w)));
}

TEST_OF_STORES(names, that_are_bad_are_refused) {
  const std::string with_nul("a\0b", 3), too_long(513, 'n'), much_too_long(1 << 20, 'n');
  for (const std::string& name : {std::string(), with_nul, too_long, much_too_long}) {
    std::error_code why;
    EXPECT_FALSE(client().try_acquire(name, within(0s), {}, why));
    EXPECT_EQ(why, errc::bad_name);
  }
}

}  // namespace
}  // namespace holdfast::conformance
