#include "throttletest/cgroup/location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_text.h"
#include "support/temp_tree.h"
#include "throttletest/cgroup/cpu_set.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing_support::TempTree;

const std::string kData = THROTTLETEST_TEST_DATA "/cgroup/";

// A machine as a pair of texts and, where needed, control files.
struct Machine {
  Machine(const std::string& cgroup, const std::string& mountinfo,
          const std::string& v2_controllers = "") {
    tree.Write("proc/7/cgroup", cgroup);
    tree.Write("proc/self/mountinfo", mountinfo);
    if (!v2_controllers.empty()) tree.Write("sys/fs/cgroup/cgroup.controllers", v2_controllers);
  }
  CgroupLocation Locate() const { return LocateCgroup(7, tree.Path("proc"), tree.root()); }
  std::string Failure() const {
    return ErrorText(ErrorCode::kCgroup, [&] { Locate(); });
  }
  TempTree tree;
};

constexpr char kV2Mount[] = "30 25 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

Machine OnV2(const std::string& cgroup, const std::string& mountinfo = kV2Mount) {
  return Machine(cgroup, mountinfo, "cpuset cpu io memory pids\n");
}

TEST(LocateCgroup, C061DecidesPerControllerOnAHybridHost) {
  const std::string host = kData + "hybrid_host";
  const CgroupLocation location = LocateCgroup(4242, host + "/proc", host);
  ASSERT_TRUE(location.cpu && location.cpuacct && location.cpuset && location.memory);
  EXPECT_EQ(location.cpu->version, CgroupVersion::kV1);
  EXPECT_EQ(location.cpu->directory(), "/sys/fs/cgroup/cpu/demo");
  EXPECT_EQ(location.memory->version, CgroupVersion::kV1);
  ASSERT_TRUE(location.unified);
  EXPECT_EQ(location.unified->version, CgroupVersion::kV2);
  EXPECT_EQ(location.unified->directory(), "/sys/fs/cgroup/unified/demo");
  EXPECT_FALSE(location.cpu->ancestors_hidden);
  EXPECT_FALSE(location.unified->ancestors_hidden);
}

TEST(LocateCgroup, C073TakesQuotaAndUsageFromTheirOwnMounts) {
  const std::string apart = kData + "hybrid_host";
  const CgroupLocation two = LocateCgroup(4242, apart + "/proc", apart);
  EXPECT_EQ(two.cpu->mount_point, "/sys/fs/cgroup/cpu");
  EXPECT_EQ(two.cpuacct->mount_point, "/sys/fs/cgroup/cpuacct");
  const std::string together = kData + "v1_host";
  const CgroupLocation one = LocateCgroup(4242, together + "/proc", together);
  EXPECT_EQ(one.cpu->directory(), "/sys/fs/cgroup/cpu,cpuacct/docker/abc");
  EXPECT_EQ(one.cpuacct, one.cpu);
  EXPECT_FALSE(one.unified);
  const Machine swapped(
      "4:cpuacct,cpu:/a\n",
      "36 29 0:33 / /sys/fs/cgroup/cpuacct,cpu rw - cgroup cgroup rw,cpuacct,cpu\n");
  EXPECT_EQ(swapped.Locate().cpu->directory(), "/sys/fs/cgroup/cpuacct,cpu/a");
}

TEST(LocateCgroup, C078FindsEverythingInAPureV2Tree) {
  const std::string host = kData + "v2_host";
  const CgroupLocation location = LocateCgroup(4242, host + "/proc", host);
  for (const auto& place :
       {location.cpu, location.cpuacct, location.cpuset, location.memory, location.unified}) {
    ASSERT_TRUE(place);
    EXPECT_EQ(place->version, CgroupVersion::kV2);
    EXPECT_EQ(place->directory(), "/sys/fs/cgroup/system.slice/docker-3f2a.scope");
  }
}

TEST(LocateCgroup, C075FollowsAnyDriversPath) {
  EXPECT_EQ(OnV2("0::/docker/3f2a\n").Locate().cpu->relative_path, "/docker/3f2a");
}

TEST(LocateCgroup, C076FollowsATreeOneLevelDown) {
  EXPECT_EQ(OnV2("0::/wsl-user/distro-1/a\n").Locate().cpu->directory(),
            "/sys/fs/cgroup/wsl-user/distro-1/a");
}

TEST(LocateCgroup, C069PrefersTheUsualOfTwoV2Mounts) {
  const Machine machine =
      OnV2("0::/a\n", std::string("29 1 0:27 / /run/cgroupv2 rw - cgroup2 none rw\n") + kV2Mount);
  EXPECT_EQ(machine.Locate().cpu->mount_point, "/sys/fs/cgroup");
}

TEST(LocateCgroup, C069TakesTheMountThatCoversThePath) {
  Machine machine("0::/a/b\n",
                  "29 1 0:27 / /run/cgroupv2 rw - cgroup2 none rw\n"
                  "30 25 0:27 /other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  machine.tree.Write("run/cgroupv2/cgroup.controllers", "cpu\n");
  EXPECT_EQ(machine.Locate().cpu->directory(), "/run/cgroupv2/a/b");
}

TEST(LocateCgroup, TakesTheMountThatCoversAnother) {
  const Machine machine("4:cpu:/docker/abc\n",
                        "36 29 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                        "41 36 0:33 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  const CgroupLocation location = machine.Locate();
  EXPECT_EQ(location.cpu->directory(), "/sys/fs/cgroup/cpu");
  EXPECT_EQ(UnseenLevels(*location.cpu),
            "the levels above /docker/abc (only that part of the tree is mounted at "
            "/sys/fs/cgroup/cpu)");
}

TEST(LocateCgroup, C071MakesThePathRelativeToTheMountsRoot) {
  const std::string inside = kData + "v1_container_host_cgroupns";
  const CgroupLocation location = LocateCgroup(1, inside + "/proc", inside);
  EXPECT_EQ(location.cpu->directory(), "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(location.cpu->relative_path, "/");
  EXPECT_TRUE(location.cpu->ancestors_hidden);
}

TEST(LocateCgroup, C071DoesNotTakeANamesBeginningForAParent) {
  const Machine machine("4:cpu:/docker/abc\n",
                        "36 29 0:33 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  EXPECT_THAT(machine.Failure(), HasSubstr("the cgroup \"/docker/abc\" is outside the reader's "
                                           "namespace: /sys/fs/cgroup/cpu shows only "
                                           "\"/docker/ab\""));
}

TEST(LocateCgroup, C079DoesNotJoinANestedPathTwice) {
  const Machine machine("4:cpu:/a/b/c\n",
                        "36 29 0:33 /a/b /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  const CgroupLocation location = machine.Locate();
  EXPECT_EQ(location.cpu->directory(), "/sys/fs/cgroup/cpu/c");
  EXPECT_TRUE(location.cpu->ancestors_hidden);
}

TEST(LocateCgroup, C080SaysThatACgroupWasRemoved) {
  EXPECT_THAT(OnV2("0::/x (deleted)\n").Failure(), HasSubstr("cgroup removed"));
}

TEST(LocateCgroup, C080RefusesAPathOutsideTheReadersNamespace) {
  EXPECT_THAT(OnV2("0::/../../sib\n").Failure(), HasSubstr("outside the reader's namespace"));
  EXPECT_EQ(OnV2("0::/..a\n").Locate().cpu->relative_path, "/..a") << "only a name";
}

TEST(LocateCgroup, SeesThatANamespaceHidesAncestors) {
  const std::string inside = kData + "v2_container_private_cgroupns";
  const CgroupLocation location = LocateCgroup(1, inside + "/proc", inside);
  EXPECT_EQ(location.cpu->relative_path, "/");
  EXPECT_TRUE(location.cpu->ancestors_hidden);
}

TEST(LocateCgroup, LeavesAbsentWhatTheMachineDoesNotOffer) {
  Machine machine("0::/a\n", kV2Mount);
  machine.tree.Write("sys/fs/cgroup/cgroup.controllers", "memory pids\n");
  const CgroupLocation location = machine.Locate();
  EXPECT_FALSE(location.cpu);
  EXPECT_FALSE(location.cpuset);
  EXPECT_TRUE(location.memory);
  ASSERT_TRUE(location.cpuacct) << "every v2 cgroup counts usage";
  EXPECT_EQ(location.cpuacct, location.unified);
}

TEST(LocateCgroup, TellsAnEndedProcessFromAMachineWithoutCgroups) {
  const TempTree tree;
  EXPECT_THAT(ErrorText(ErrorCode::kCgroup, [&] { LocateCgroup(7, tree.Path("proc")); }),
              HasSubstr("process 7 has ended"));
  EXPECT_THAT(Machine("0::/\n", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n").Failure(),
              HasSubstr("no cgroup file system is mounted"));
}

TEST(LocateCgroup, DoesNotMindAnUnreachableV2TreeOnAHybridHost) {
  const Machine machine("4:cpu:/a\n0::/../x\n",
                        std::string("36 29 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n") +
                            "40 29 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  const CgroupLocation location = machine.Locate();
  EXPECT_TRUE(location.cpu);
  EXPECT_FALSE(location.unified);
}

TEST(DetectCgroupMode, NamesTheFourKinds) {
  const auto mode = [](const std::string& mountinfo) {
    TempTree tree;
    tree.Write("proc/self/mountinfo", mountinfo);
    return CgroupModeName(DetectCgroupMode(tree.Path("proc"), tree.root()));
  };
  const std::string v1 = "36 29 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
  EXPECT_STREQ(mode(kV2Mount), "v2");
  EXPECT_STREQ(mode(v1), "v1");
  EXPECT_STREQ(mode(v1 + kV2Mount), "hybrid");
  EXPECT_STREQ(mode(""), "none");
  const std::string named =
      "39 29 0:36 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n";
  EXPECT_STREQ(mode(named + kV2Mount), "v2");
}

TEST(OnlineCpus, ReadsTheKernelsList) {
  EXPECT_EQ(OnlineCpus(kData + "v2_host").ToString(), "0-7");
  const TempTree tree;
  EXPECT_THAT(ErrorText(ErrorCode::kCgroup, [&] { OnlineCpus(tree.root()); }),
              HasSubstr("/sys/devices/system/cpu/online: no such file"));
}

}  // namespace
}  // namespace throttletest
