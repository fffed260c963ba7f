// Whose directory it is. Root may do everything, so these are asked by somebody else.
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

constexpr uid_t somebody = 65534;

/// In a child of its own, which root has changed into somebody else.
template <class F>
bool as_somebody(F f) {
  test::child other([&] {
    HOLDFAST_SHOULD(::setgroups(0, nullptr) == 0 && ::setgid(somebody) == 0 && ::setuid(somebody) == 0);
    return f();
  });
  return other.ends_well();
}

/// A folder that everybody may enter.
class open_folder {
 public:
  open_folder() { fs::permissions(fs::path(folder_.file("x")).parent_path(), fs::perms(0777)); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  test::temporary_folder folder_;
};

TEST(directory_users, use_a_directory_of_their_own) {
  const open_folder place;
  EXPECT_TRUE(as_somebody([&] {
    store s = open("dir:" + place.file("mine"));
    const lease held = s.acquire("a");
    struct stat is{};
    HOLDFAST_SHOULD(::stat(place.file("mine").c_str(), &is) == 0);
    HOLDFAST_SHOULD(is.st_uid == ::geteuid() && (is.st_mode & 07777) == 0700);
    return held.held();
  }));
}

TEST(directory_users, are_refused_the_directory_of_another_and_told_whose_it_is) {
  const open_folder place;
  fs::create_directory(place.file("theirs"));
  fs::permissions(place.file("theirs"), fs::perms(0755));
  ASSERT_EQ(::chown(place.file("theirs").c_str(), 12345, 12345), 0) << "only root may give things away";
  EXPECT_TRUE(as_somebody([&] {
    const auto [code, text] = failure_of([&] { (void)open("dir:" + place.file("theirs")); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "belongs to user 12345");
  }));
}

TEST(directory_users, are_refused_a_directory_that_they_may_not_enter) {
  const open_folder place;
  fs::create_directory(place.file("closed"));
  fs::permissions(place.file("closed"), fs::perms(0700));
  EXPECT_TRUE(as_somebody([&] {
    const auto [code, text] = failure_of([&] { (void)open("dir:" + place.file("closed")); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "Permission denied");
  }));
}

TEST(directory_users, are_refused_a_directory_that_everybody_may_write) {
  const open_folder place;
  EXPECT_TRUE(as_somebody([&] {
    fs::create_directory(place.file("mine"));
    fs::permissions(place.file("mine"), fs::perms(0777));
    const auto [code, text] = failure_of([&] { (void)open("dir:" + place.file("mine")); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "may be written by others");
  }));
}

TEST(directory_users, cannot_make_one_where_they_may_not_write) {
  EXPECT_TRUE(as_somebody([&] {
    const auto [code, text] = failure_of([&] { (void)open("dir:/usr/holdfast-test"); });
    HOLDFAST_SHOULD(code == errc::denied);
    return contains(text, "cannot make /usr/holdfast-test");
  }));
}

TEST(directory_users, get_a_directory_of_their_own_when_they_name_none) {
  EXPECT_TRUE(as_somebody([&] {
    store s = open();
    HOLDFAST_SHOULD(s.url() == "dir:/var/tmp/holdfast-" + std::to_string(::geteuid()));
    return s.try_acquire("holdfast-test/default").has_value();
  }));
}

}  // namespace
}  // namespace holdfast::faults
