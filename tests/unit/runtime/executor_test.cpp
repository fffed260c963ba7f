#include "runtime/executor.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/bounds.hpp"
#include "support/manual_executor.hpp"

namespace holdfast::runtime {
namespace {

void ignore(const char*) {}

TEST(executor, runs_user_code_in_order_on_a_thread_of_its_own) {
  std::vector<int> order;
  std::vector<bool> there;
  {
    executor user(nullptr, ignore);
    for (int k = 0; k < 3; ++k) {
      user.post([&, k] {
        order.push_back(k);
        there.push_back(executor::runs_here());
      });
    }
    EXPECT_FALSE(executor::runs_here());
  }
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  EXPECT_EQ(there, (std::vector{true, true, true}));
}

TEST(executor, runs_user_code_through_the_given_function) {
  test::manual_executor theirs;
  executor user(theirs.poster(), ignore);
  std::vector<std::thread::id> where;
  user.post([&] {
    EXPECT_TRUE(executor::runs_here());
    where.push_back(std::this_thread::get_id());
  });
  EXPECT_TRUE(where.empty()) << "it ran in place";
  theirs.run();
  EXPECT_EQ(where, std::vector{std::this_thread::get_id()});
  EXPECT_FALSE(executor::runs_here());
}

TEST(executor, reports_user_code_that_throws_and_continues) {
  std::vector<std::string> complaints;
  int ran = 0;
  {
    executor user(nullptr, [&](const char* what) {
      EXPECT_TRUE(executor::runs_here());
      complaints.emplace_back(what);
    });
    user.post([] { throw std::runtime_error("the first"); });
    user.post([] { throw 2; });
    user.post([&] { ++ran; });
  }
  EXPECT_EQ(complaints, (std::vector<std::string>{"the first", "something that is not a std::exception"}));
  EXPECT_EQ(ran, 1);
}

TEST(executor, survives_a_given_function_that_throws) {
  bool refuses = true;
  test::manual_executor theirs;
  executor user(
      [&, post = theirs.poster()](executor::function f) {
        if (refuses) throw std::runtime_error("not today");
        post(std::move(f));
      },
      ignore);
  int ran = 0;
  user.post([&] { ++ran; });
  refuses = false;
  user.post([&] { ++ran; });
  theirs.run();
  EXPECT_EQ(ran, 1);
}

/// Like a lease for an executor: the thread on which it is destroyed decides whether its release may block.
struct owned_by_job {
  std::vector<bool>& went_there;
  explicit owned_by_job(std::vector<bool>& w) : went_there(w) {}
  owned_by_job(const owned_by_job&) = delete;
  owned_by_job& operator=(const owned_by_job&) = delete;
  ~owned_by_job() { went_there.push_back(executor::runs_here()); }
};

TEST(executor, counts_destructors_of_captures_as_user_code) {
  std::vector<bool> went_there;
  {
    executor user(nullptr, ignore);
    user.post([it = std::make_shared<owned_by_job>(went_there)] {});
  }
  EXPECT_EQ(went_there, std::vector{true});
}

TEST(executor, counts_destructors_as_user_code_after_an_exception) {
  std::vector<bool> went_there;
  {
    executor user(nullptr, ignore);
    user.post([it = std::make_shared<owned_by_job>(went_there)] { throw 1; });
  }
  EXPECT_EQ(went_there, std::vector{true});
}

TEST(executor, counts_nested_user_code) {
  test::manual_executor theirs;
  executor outer(theirs.poster(), ignore), inner(theirs.poster(), ignore);
  std::vector<bool> there;
  outer.post([&] {
    inner.post([&] { there.push_back(executor::runs_here()); });
    theirs.run();
    there.push_back(executor::runs_here());
  });
  theirs.run();
  EXPECT_EQ(there, (std::vector{true, true}));
  EXPECT_FALSE(executor::runs_here());
}

}  // namespace
}  // namespace holdfast::runtime
