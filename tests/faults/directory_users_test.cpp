// Owners and permissions of directories. Root may do everything, so these tests run as another user.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "faults/directory_store.hpp"
#include "support/child.hpp"

namespace holdfast::faults {
namespace {

namespace fs = std::filesystem;

constexpr uid_t other_user = 65534;

/// Runs `f` in a child process as another user.
template <class F>
bool as_other_user(F f) {
  test::child other([&] {
    HOLDFAST_SHOULD(::setgroups(0, nullptr) == 0 && ::setgid(other_user) == 0 && ::setuid(other_user) == 0);
    return f();
  });
  return other.ends_well();
}

/// A folder that every user may enter.
class open_folder {
 public:
  open_folder() { fs::permissions(fs::path(folder_.file("x")).parent_path(), fs::perms(0777)); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  test::temporary_folder folder_;
};

TEST(directory_users, use_a_directory_of_their_own) {
  const open_folder place;
  EXPECT_TRUE(as_other_user([&] {
    store s = open("dir:" + place.file("mine"));
    const lease held = s.acquire("a");
    struct stat is{};
    HOLDFAST_SHOULD(::stat(place.file("mine").c_str(), &is) == 0);
    HOLDFAST_SHOULD(is.st_uid == ::geteuid() && (is.st_mode & 07777) == 0700);
    return held.held();
  }));
}

TEST(directory_users, are_refused_the_directory_of_another_user_by_name) {
  const open_folder place;
  fs::create_directory(place.file("theirs"));
  fs::permissions(place.file("theirs"), fs::perms(0755));
  ASSERT_EQ(::chown(place.file("theirs").c_str(), 12345, 12345), 0) << "this test needs root";
  EXPECT_TRUE(as_other_user([&] {
    const auto [code, text] = failure_of([&] { (void)open("dir:" + place.file("theirs")); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "belongs to user 12345");
  }));
}

TEST(directory_users, are_refused_a_directory_that_they_may_not_enter) {
  const open_folder place;
  fs::create_directory(place.file("closed"));
  fs::permissions(place.file("closed"), fs::perms(0700));
  EXPECT_TRUE(as_other_user([&] {
    const auto [code, text] = failure_of([&] { (void)open("dir:" + place.file("closed")); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "Permission denied");
  }));
}

TEST(directory_users, are_refused_a_directory_that_everyone_can_write_to) {
  const open_folder place;
  EXPECT_TRUE(as_other_user([&] {
    fs::create_directory(place.file("mine"));
    fs::permissions(place.file("mine"), fs::perms(0777));
    const auto [code, text] = failure_of([&] { (void)open("dir:" + place.file("mine")); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "can be written by other users");
  }));
}

TEST(directory_users, cannot_create_a_directory_where_they_may_not_write) {
  EXPECT_TRUE(as_other_user([&] {
    const auto [code, text] = failure_of([&] { (void)open("dir:/usr/holdfast-test"); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "cannot create /usr/holdfast-test");
  }));
}

TEST(directory_users, get_a_directory_of_their_own_by_default) {
  EXPECT_TRUE(as_other_user([&] {
    store s = open();
    HOLDFAST_SHOULD(s.url() == "dir:/var/tmp/holdfast-" + std::to_string(::geteuid()));
    return s.try_acquire("holdfast-test/default").has_value();
  }));
}

}  // namespace
}  // namespace holdfast::faults
