#include "directory/writers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "store/answer.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::directory {
namespace {

/// Two clients; they could as well be in two processes: such a lock belongs to the open file.
class turns : public testing::Test {
 protected:
  test::temporary_folder there_;
  folder folder_{there_.file("locks")};
  writers one_{folder_}, other_{folder_};
};

TEST_F(turns, come_one_after_another) {
  {
    const writers::turn first(one_, boot_clock::now());
  }
  {
    const writers::turn second(other_, boot_clock::now());
  }
  const writers::turn third(one_, boot_clock::now());
}

TEST_F(turns, that_do_not_come_in_time_are_a_failure_that_names_the_one_who_writes) {
  const writers::turn first(one_, boot_clock::now());
  try {
    const writers::turn second(other_, boot_clock::now());
    FAIL() << "two at a time";
  } catch (const seam::failure& why) {
    EXPECT_EQ(why.code, errc::unreachable);
    EXPECT_EQ(why.text.rfind("process " + std::to_string(::getpid()) + " (", 0), 0u) << why.text;
    EXPECT_NE(why.text.find(") is in the middle of a write"), std::string::npos) << why.text;
  }
}

TEST_F(turns, that_did_not_come_in_time_take_nobodys_away) {
  {
    const writers::turn first(one_, boot_clock::now());
    for (int k = 0; k < 3; ++k) EXPECT_THROW(writers::turn(other_, boot_clock::now()), seam::failure);
  }
  const writers::turn second(other_, boot_clock::now());
}

}  // namespace
}  // namespace holdfast::directory
