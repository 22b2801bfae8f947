#include "throttletest/service/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>

#include "service/file_lock.h"
#include "service/host_checks.h"
#include "service/surroundings.h"
#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

using Status = HostFinding::Status;
using ::testing::HasSubstr;
using testing_support::TempTree;

ControllerLocation At(CgroupVersion version, const std::string& mount) {
  return {
      .version = version, .mount_point = mount, .relative_path = "/own", .ancestors_hidden = false};
}

TEST(HostController, IsToldWithItsVersionAndPlace) {
  const auto finding = ControllerFinding("cpu", true, At(CgroupVersion::kV1, "/sys/fs/cgroup/cpu"));
  EXPECT_EQ(finding.topic, "cgroup cpu");
  EXPECT_EQ(finding.status, Status::kOk);
  EXPECT_EQ(finding.detail, "v1 at /sys/fs/cgroup/cpu, this process in /own");
  EXPECT_EQ(finding.advice, "");
}

TEST(HostController, ThatIsMissingHasAdvice) {
  EXPECT_EQ(ControllerFinding("cpu", true, std::nullopt).status, Status::kLack);
  EXPECT_EQ(ControllerFinding("memory", false, std::nullopt).status, Status::kWarning);
  EXPECT_THAT(ControllerFinding("cpu", true, std::nullopt).advice, HasSubstr("Delegate="));
}

TEST(HostUnseen, LevelsThatCannotBeSeenAreAWarningThatSaysWhatItMeans) {
  auto location = At(CgroupVersion::kV2, "/sys/fs/cgroup");
  EXPECT_EQ(UnseenFinding(location, true).status, Status::kOk);
  EXPECT_EQ(UnseenFinding(location, true).detail, "none");
  EXPECT_EQ(UnseenFinding(std::nullopt, false).status, Status::kOk);
  location.ancestors_hidden = true;
  const HostFinding finding = UnseenFinding(location, true);
  EXPECT_EQ(finding.status, Status::kWarning);
  EXPECT_THAT(finding.detail, HasSubstr("the levels above /sys/fs/cgroup"));
  EXPECT_THAT(finding.advice, HasSubstr("makes a run inconclusive"));
  EXPECT_THAT(UnseenFinding(location, false).advice, HasSubstr("unnoticed"));
}

TEST(HostContainer, IsToldWithItsNamespaces) {
  const TempTree tree;
  const auto detail = [&](bool levels_hidden = false) {
    return ContainerFinding(Surroundings::Look(levels_hidden, tree.root())).detail;
  };
  EXPECT_EQ(detail(), "no");
  const auto link = [&](const std::string& name, const std::string& target) {
    tree.Mkdir("proc/self/ns");
    tree.Remove("proc/self/ns/" + name);
    std::filesystem::create_symlink(target, tree.Path("proc/self/ns/" + name));
  };
  link("cgroup", "cgroup:[4026531835]");
  link("pid", "pid:[4026531836]");
  EXPECT_EQ(detail(), "no") << "the machine itself";
  link("pid", "pid:[4026532180]");
  EXPECT_EQ(detail(), "yes (unknown), with the host's cgroup namespace and its own PID namespace");
  link("pid", "pid:[4026531836]");
  tree.Write(".dockerenv", "");
  EXPECT_EQ(detail(), "no") << "a machine made from an image";
  EXPECT_EQ(detail(true),
            "yes (docker), with the host's cgroup namespace and the host's PID "
            "namespace");
  link("pid", "pid:[4026532180]");
  link("cgroup", "cgroup:[4026532181]");
  tree.Write("run/.containerenv", "");
  EXPECT_EQ(detail(), "yes (podman), with its own cgroup namespace and its own PID namespace");
}

TEST(HostPermission, NamesThePlaceAndTheControllersItLacks) {
  EXPECT_EQ(PermissionFinding({.lack = "no place"}).status, Status::kWarning);

  CgroupPlace place;
  place.parent.cpu = place.parent.memory = place.parent.cpuset = At(CgroupVersion::kV2, "/cg");
  const auto full = PermissionFinding({.place = place});
  EXPECT_EQ(full.status, Status::kOk);
  EXPECT_THAT(full.detail, HasSubstr("/cg"));

  place.parent.cpuset = std::nullopt;
  place.systemd = SystemdManager{.user = true};
  const auto partial = PermissionFinding({.place = place});
  EXPECT_EQ(partial.status, Status::kWarning);
  EXPECT_THAT(partial.detail, HasSubstr("a scope of the systemd manager of this user, without "
                                        "cpuset"));
  EXPECT_THAT(partial.advice, HasSubstr("Delegate=cpu cpuset"));
}

TEST(HostLauncher, ALackIsSplitIntoFindingAndWayOut) {
  const auto finding = LauncherFinding("docker", "docker does not answer; start its daemon", "");
  EXPECT_EQ(finding.status, Status::kLack);
  EXPECT_EQ(finding.detail, "docker does not answer");
  EXPECT_EQ(finding.advice, "start its daemon");
  EXPECT_EQ(LauncherFinding("docker", "", "docker 1.2").detail, "docker 1.2");
}

TEST(HostCores, AnUnlimitedProcessIsFine) {
  EXPECT_EQ(CoresFinding(CpuSet({0, 1}), CpuSet({0, 1}), EffectiveCpuLimit{}).status, Status::kOk);
}

TEST(HostCores, C183AnOwnLimitIsAWarning) {
  EffectiveCpuLimit own;
  own.quota = CpuBandwidth{.quota = std::chrono::milliseconds(50)};
  own.quota_path = "/ci";
  const auto finding = CoresFinding(CpuSet({0, 1}), CpuSet({0, 1}), own);
  EXPECT_EQ(finding.status, Status::kWarning);
  EXPECT_THAT(finding.detail, HasSubstr("50 ms per 100 ms"));
  EXPECT_THAT(finding.detail, HasSubstr("/ci"));
}

TEST(HostCores, FewerUsableCpusAreAWarning) {
  const auto finding = CoresFinding(CpuSet({0, 1, 2, 3}), CpuSet({0}), std::nullopt);
  EXPECT_EQ(finding.status, Status::kWarning);
  EXPECT_EQ(finding.detail, "4 online, this process may use 1 (0)");
}

TEST(HostCores, ASingleCpuIsAWarning) {
  EXPECT_EQ(CoresFinding(CpuSet({0}), CpuSet({0}), std::nullopt).status, Status::kWarning);
}

TEST(HostSwap, IsOnWhereTheFileIs) {
  const TempTree tree;
  CgroupLocation location;
  EXPECT_EQ(SwapFinding(location, tree.root()).status, Status::kWarning);
  location.memory = At(CgroupVersion::kV2, "/cg");
  tree.Write("cg/own/memory.max", "max\n");
  EXPECT_EQ(SwapFinding(location, tree.root()).status, Status::kWarning);
  tree.Write("cg/own/child/memory.swap.max", "max\n");
  EXPECT_EQ(SwapFinding(location, tree.root()).status, Status::kOk);
}

TEST(HostPressure, IsNotThereWhereReadingFails) {
  const TempTree tree;
  EXPECT_EQ(PressureFinding(tree.root()).status, Status::kWarning);
  tree.Write("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
  EXPECT_EQ(PressureFinding(tree.root()).status, Status::kOk);
}

TEST(HostSlice, IsReadInMicroseconds) {
  const TempTree tree;
  EXPECT_EQ(SliceFinding(tree.root()).status, Status::kWarning);
  tree.Write("sys/kernel/sched_cfs_bandwidth_slice_us", "5000\n");
  EXPECT_EQ(SliceFinding(tree.root()).detail, "5 ms");
}

TEST(HostLock, IsFreeOrHeldOrCannotBeUsed) {
  const TempTree tree;
  EXPECT_EQ(HostLockFinding(tree.Path("lock")).detail, tree.Path("lock") + ", free");
  FileLock lock(tree.Path("lock"));
  ASSERT_TRUE(lock.Try());
  EXPECT_EQ(HostLockFinding(tree.Path("lock")).detail,
            tree.Path("lock") + ", held by process " + std::to_string(::getpid()));
  EXPECT_EQ(HostLockFinding(tree.Path("lock")).status, Status::kOk);
  for (const std::string& path : {std::string(), tree.Path("no/folder/lock")}) {
    const auto finding = HostLockFinding(path);
    EXPECT_EQ(finding.status, Status::kWarning);
    EXPECT_THAT(finding.advice, HasSubstr("THROTTLETEST_LOCK"));
  }
}

TEST(HostLeftovers, AreNamed) {
  EXPECT_EQ(LeftoversFinding({}).status, Status::kOk);
  const auto finding = LeftoversFinding({"docker container a", "/sys/fs/cgroup/b"});
  EXPECT_EQ(finding.status, Status::kWarning);
  EXPECT_EQ(finding.detail, "docker container a, /sys/fs/cgroup/b");
  EXPECT_THAT(finding.advice, HasSubstr("throttletest clean"));
}

TEST(HostReport, OneUsableLauncherIsEnough) {
  HostReport report;
  EXPECT_FALSE(report.can_measure());
  report.usable_launchers = {"cgroup"};
  EXPECT_TRUE(report.can_measure());
}

}  // namespace
}  // namespace throttletest::internal
