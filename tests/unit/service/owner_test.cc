#include "service/owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

TEST(Owner, TextRoundTrips) {
  const Owner self = Owner::Self();
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_GT(self.start_ticks, 0U);
  EXPECT_EQ(Owner::Parse(self.ToString()), self);
  EXPECT_TRUE(self.Alive());
}

TEST(Owner, RefusesWhatIsNotAnOwner) {
  for (const char* text :
       {"", "1", "1.2", "1.2.abcdef01", "0.2.abcdef01.4", "-1.2.abcdef01.4", "1.x.abcdef01.4",
        "1.2..4", "1.2.abcdef0123.4", "1.2.ABCDEF01.4", "1.2.abcdef01.4.5", "1.2.abcdef01."}) {
    EXPECT_FALSE(Owner::Parse(text).has_value()) << text;
  }
}

TEST(Owner, AnotherBootIsDead) {
  Owner other = Owner::Self();
  other.boot_id = other.boot_id == "00000000" ? "11111111" : "00000000";
  EXPECT_FALSE(other.Alive());
}

TEST(Owner, AReusedProcessNumberIsDead) {
  Owner earlier = Owner::Self();
  earlier.start_ticks -= 1;
  EXPECT_FALSE(earlier.Alive());
}

TEST(Owner, AProcessOfOurOwnNamespaceThatIsGoneIsDead) {
  Owner gone = Owner::Self();
  gone.pid = 4194304 + 1;  // above the kernel's largest process number
  EXPECT_FALSE(gone.Alive());
}

TEST(UniqueName, IsUniqueAndNamesItsOwner) {
  const std::string first = UniqueName();
  EXPECT_NE(first, UniqueName());
  EXPECT_EQ(OwnerOfName(first), Owner::Self());
}

TEST(UniqueName, C101OnlyOurOwnNamesAreRecognised) {
  const std::string owner = Owner::Self().ToString();
  EXPECT_TRUE(OwnerOfName("throttletest-" + owner + "-12").has_value());
  for (const std::string& name :
       {std::string("docker"), std::string("throttletest"), std::string("throttletest-"),
        std::string("throttletest-mine"), "throttletest-" + owner, "throttletest-" + owner + "-",
        "throttletest-" + owner + "-x", "my-throttletest-" + owner + "-1",
        "throttletest-x" + owner + "-1"}) {
    EXPECT_FALSE(OwnerOfName(name).has_value()) << name;
  }
}

TEST(ProcessStat, ReadsNamesWithBlanksAndParentheses) {
  const auto stat = ParseProcessStat(
      "77 (a) b (c) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 123456 9 10 11\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->threads, 3);
  EXPECT_EQ(stat->start_ticks, 123456U);
  EXPECT_FALSE(stat->kernel_thread);
  EXPECT_FALSE(stat->ended());
}

TEST(ProcessStat, TellsAKernelThreadByItsFlag) {
  const auto stat = ParseProcessStat(
      "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 1 0 0 20 0 1 0 3 0 0 18446744073709551615\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_TRUE(stat->kernel_thread);
}

TEST(ProcessStat, AZombieHasEndedUnlessThreadsLiveOn) {
  const ProcessStat zombie{.state = 'Z', .start_ticks = 1, .threads = 1};
  const ProcessStat leader_left{.state = 'Z', .start_ticks = 1, .threads = 2};
  EXPECT_TRUE(zombie.ended());
  EXPECT_FALSE(leader_left.ended());
}

// As when the process ends between the opening and the reading of its file.
TEST(ProcessStat, IsAbsentWhenItCannotBeRead) {
  const testing_support::TempTree proc;
  proc.Write("77/stat/below", "");
  EXPECT_FALSE(ReadProcessStat(77, proc.root()).has_value());
}

TEST(ProcessStat, RefusesACutLine) {
  for (const char* text : {"", "77 (a", "77 (a) S 1 2", "nothing"}) {
    EXPECT_FALSE(ParseProcessStat(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace throttletest::internal
