#include "service/cgroup_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "service/owner.h"
#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string DeadName(int n) {
  Owner dead = Owner::Self();
  dead.start_ticks -= 1;  // an earlier process with our number
  return "throttletest-" + dead.ToString() + "-" + std::to_string(n);
}

TEST(CgroupSweep, C101FindsTheDeadAtAnyDepthAndNobodyElse) {
  const testing_support::TempTree tree;
  tree.Mkdir(DeadName(1) + "/below");
  tree.Mkdir("user.slice/a.scope/" + DeadName(2));
  tree.Mkdir("app.slice/" + DeadName(4) + ".scope/" + DeadName(5));
  tree.Mkdir("user.slice/" + UniqueName());  // of the living
  tree.Mkdir("app.slice/" + UniqueName() + ".scope/" + UniqueName());
  tree.Mkdir("throttletest-bystander");
  tree.Mkdir("throttletest-1.2.abcdef01.4-");
  tree.Write(DeadName(3), "a file of such a name");
  std::filesystem::create_directory_symlink(tree.root(), tree.Path("loop"));
  EXPECT_THAT(
      DeadCgroupsBelow(tree.root(), ::geteuid()),
      UnorderedElementsAre(tree.Path(DeadName(1)), tree.Path("user.slice/a.scope/" + DeadName(2)),
                           tree.Path("app.slice/" + DeadName(4) + ".scope")));
}

TEST(CgroupSweep, LeavesAnotherUsersDeadAlone) {
  const testing_support::TempTree tree;
  tree.Mkdir(DeadName(1));
  EXPECT_THAT(DeadCgroupsBelow(tree.root(), ::geteuid() + 1), IsEmpty());
}

TEST(CgroupSweep, FindsNothingWhereNothingIs) {
  EXPECT_THAT(DeadCgroupsBelow("/no/such/hierarchy", ::geteuid()), IsEmpty());
}

}  // namespace
}  // namespace throttletest::internal
