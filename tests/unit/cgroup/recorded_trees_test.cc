// Every recorded kind of machine: where a service is, what limits it, and what cannot be seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "support/recorded_tree.h"
#include "throttletest/cgroup/delta.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing_support::RecordedTree;
using Source = EffectiveCpuLimit::Source;

const std::string kTrees = THROTTLETEST_TEST_DATA "/cgroup/";

constexpr CgroupMode kV1 = CgroupMode::kLegacy;
constexpr CgroupMode kV2 = CgroupMode::kUnified;
constexpr CgroupMode kHybrid = CgroupMode::kHybrid;
constexpr const char* kNamespaceRoot = "(the root of a cgroup namespace, as in a container)";

struct Machine {
  const char* name;
  CgroupMode mode;
  const char* directory;  // of the process's cpu cgroup
  double cpus;            // what bounds it
  Source source;
  const char* limiting;  // the level that does
  const char* unseen;    // part of what is said about levels that cannot be seen. Empty: none.
};

void PrintTo(const Machine& machine, std::ostream* os) { *os << machine.name; }

const Machine kMachines[] = {
    {"hybrid_host", kHybrid, "/sys/fs/cgroup/cpu/demo", 0.5, Source::kQuota, "/demo", ""},
    {"hybrid_docker", kHybrid, "/sys/fs/cgroup/cpu/docker/ab5a3bbfb0de", 0.5, Source::kQuota,
     "/docker/ab5a3bbfb0de", ""},
    {"hybrid_docker_inside", kV1, "/sys/fs/cgroup/cpu", 0.5, Source::kQuota, "/",
     "the levels above /docker/"},
    {"hybrid_docker_inside_private", kV1, "/sys/fs/cgroup/cpu", 0.5, Source::kQuota, "/",
     kNamespaceRoot},
    {"hybrid_docker_inside_hidden_limit", kV1, "/sys/fs/cgroup/cpu", 2, Source::kOnlineCpus, "",
     kNamespaceRoot},
    {"hybrid_podman_runc", kHybrid, "/sys/fs/cgroup/cpu/libpod_parent/libpod-0564cebe30b2", 0.5,
     Source::kQuota, "/libpod_parent/libpod-0564cebe30b2", ""},
    {"hybrid_podman_runc_inside", kV1, "/sys/fs/cgroup/cpu", 0.5, Source::kQuota, "/",
     "the levels above /libpod_parent/libpod-"},
    {"hybrid_podman_runc_inside_private", kV1, "/sys/fs/cgroup/cpu", 0.5, Source::kQuota, "/",
     kNamespaceRoot},
    {"v1_host", kV1, "/sys/fs/cgroup/cpu,cpuacct/docker/abc", 0.5, Source::kQuota, "/docker/abc",
     ""},
    {"v1_container_host_cgroupns", kV1, "/sys/fs/cgroup/cpu,cpuacct", 0.5, Source::kQuota, "/",
     "the levels above /docker/abc"},
    {"v1_docker_cgroupfs", kV1, "/sys/fs/cgroup/cpu,cpuacct/docker/3f2a9c0d41b7", 0.5,
     Source::kQuota, "/docker/3f2a9c0d41b7", ""},
    {"v1_docker_systemd", kV1, "/sys/fs/cgroup/cpu,cpuacct/system.slice/docker-3f2a9c0d41b7.scope",
     0.5, Source::kQuota, "/system.slice/docker-3f2a9c0d41b7.scope", ""},
    {"v1_inside_bind", kV1, "/sys/fs/cgroup/cpu,cpuacct", 0.5, Source::kQuota, "/",
     "the levels above /docker/3f2a9c0d41b7"},
    {"v1_inside_private", kV1, "/sys/fs/cgroup/cpu,cpuacct", 0.5, Source::kQuota, "/",
     kNamespaceRoot},
    {"v2_host", kV2, "/sys/fs/cgroup/system.slice/docker-3f2a.scope", 0.5, Source::kQuota,
     "/system.slice/docker-3f2a.scope", ""},
    {"v2_container_private_cgroupns", kV2, "/sys/fs/cgroup", 0.5, Source::kQuota, "/",
     kNamespaceRoot},
    {"v2_docker_systemd", kV2, "/sys/fs/cgroup/system.slice/docker-3f2a9c0d41b7.scope", 0.5,
     Source::kQuota, "/system.slice/docker-3f2a9c0d41b7.scope", ""},
    {"v2_docker_cgroupfs", kV2, "/sys/fs/cgroup/docker/3f2a9c0d41b7", 0.5, Source::kQuota,
     "/docker/3f2a9c0d41b7", ""},
    {"v2_podman_runc", kV2, "/sys/fs/cgroup/machine.slice/libpod-3f2a9c0d41b7.scope", 0.5,
     Source::kQuota, "/machine.slice/libpod-3f2a9c0d41b7.scope", ""},
    {"v2_podman_crun", kV2, "/sys/fs/cgroup/machine.slice/libpod-3f2a9c0d41b7.scope/container", 0.5,
     Source::kQuota, "/machine.slice/libpod-3f2a9c0d41b7.scope", ""},
    {"v2_podman_rootless", kV2,
     "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/user.slice/"
     "libpod-3f2a9c0d41b7.scope/container",
     0.5, Source::kQuota,
     "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-3f2a9c0d41b7.scope", ""},
    {"v2_user_scope", kV2,
     "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/throttletest-812.scope/"
     "throttletest-812-1",
     0.5, Source::kQuota,
     "/user.slice/user-1000.slice/user@1000.service/app.slice/throttletest-812.scope/"
     "throttletest-812-1",
     ""},
    {"v2_wsl", kV2, "/sys/fs/cgroup/wsl-user/distro-1/service", 0.5, Source::kQuota,
     "/wsl-user/distro-1/service", ""},
    {"v2_inside_private", kV2, "/sys/fs/cgroup", 0.5, Source::kQuota, "/", kNamespaceRoot},
    {"v2_inside_hidden_limit", kV2, "/sys/fs/cgroup", 2, Source::kOnlineCpus, "", kNamespaceRoot},
    {"v2_inside_host", kV2, "/sys/fs/cgroup/system.slice/docker-3f2a9c0d41b7.scope", 0.5,
     Source::kQuota, "/system.slice/docker-3f2a9c0d41b7.scope", ""},
    {"v2_inside_bind", kV2, "/sys/fs/cgroup", 0.5, Source::kQuota, "/",
     "the levels above /system.slice/docker-3f2a9c0d41b7.scope"},
};

class RecordedMachine : public testing::TestWithParam<Machine> {
 protected:
  CgroupLocation Locate() const {
    return LocateCgroup(tree_.pid(), tree_.tree().Path("proc"), tree_.root());
  }
  Snapshot Read() const { return Cgroup::Open(Locate(), tree_.root()).Read(); }

  RecordedTree tree_{kTrees + GetParam().name};
};

TEST_P(RecordedMachine, SaysWhereTheServiceIs) {
  const CgroupLocation location = Locate();
  ASSERT_TRUE(location.cpu && location.cpuacct && location.memory && location.cpuset);
  EXPECT_EQ(location.cpu->directory(), GetParam().directory);
  EXPECT_EQ(location.cpu->version,
            GetParam().mode == kV2 ? CgroupVersion::kV2 : CgroupVersion::kV1);
  EXPECT_EQ(DetectCgroupMode(tree_.tree().Path("proc"), tree_.root()), GetParam().mode);
}

TEST_P(RecordedMachine, SaysWhatLimitsIt) {
  const EffectiveCpuLimit effective = Read().EffectiveCpu();
  EXPECT_DOUBLE_EQ(effective.cpus, GetParam().cpus);
  EXPECT_EQ(effective.source, GetParam().source);
  EXPECT_EQ(effective.path, GetParam().limiting);
}

TEST_P(RecordedMachine, SaysWhatCannotBeSeen) {
  const Snapshot snapshot = Read();
  const std::string unseen = GetParam().unseen;
  EXPECT_EQ(snapshot.ancestors_hidden, !unseen.empty());
  EXPECT_EQ(snapshot.unseen.empty(), unseen.empty());
  EXPECT_THAT(snapshot.unseen, HasSubstr(unseen));
  EXPECT_EQ(UnseenLevels(Locate().cpu.value()), snapshot.unseen);
}

// All of them ran a program that used up its quota.
TEST_P(RecordedMachine, HasCountersOfTheLevelThatLimits) {
  const Snapshot snapshot = Read();
  if (!snapshot.EffectiveCpu().quota) {
    EXPECT_THAT(GetParam().name, HasSubstr("hidden_limit"));
    return;
  }
  const auto level = std::find_if(snapshot.cpu.begin(), snapshot.cpu.end(), [&](const auto& l) {
    return l.path == snapshot.EffectiveCpu().quota_path;
  });
  ASSERT_NE(level, snapshot.cpu.end());
  ASSERT_TRUE(level->counters);
  EXPECT_GT(level->counters->throttled_periods, 5);
  EXPECT_GT(level->counters->throttled_time, std::chrono::milliseconds(300));
  ASSERT_TRUE(snapshot.usage);
  EXPECT_GT(*snapshot.usage, std::chrono::milliseconds(300));
}

INSTANTIATE_TEST_SUITE_P(All, RecordedMachine, testing::ValuesIn(kMachines),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RecordedMachines, EachTreeHasARowAndALineInTheReadme) {
  std::set<std::string> rows;
  for (const Machine& machine : kMachines) rows.insert(machine.name);
  std::set<std::string> trees;
  for (const auto& entry : std::filesystem::directory_iterator(kTrees)) {
    if (entry.is_directory() || entry.path().extension() == ".tree") {
      trees.insert(entry.path().stem());
    }
  }
  EXPECT_EQ(rows, trees);
  std::ifstream file(kTrees + "README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& tree : trees) EXPECT_THAT(readme, HasSubstr("`" + tree + "`"));
}

// What the service was held by can be seen although what held it cannot.
TEST(RecordedMachines, AnUnseenLimitShowsByTheTimeItHeldTheService) {
  for (const char* name : {"hybrid_docker_inside_hidden_limit"}) {
    const RecordedTree tree(kTrees + name);
    const Snapshot after =
        Cgroup::Open(LocateCgroup(tree.pid(), tree.tree().Path("proc"), tree.root()), tree.root())
            .Read();
    Snapshot before = after;
    before.time -= std::chrono::seconds(2);
    before.cpu[0].held_time = std::chrono::nanoseconds(0);
    const CgroupDelta delta = Subtract(before, after);
    EXPECT_EQ(delta.throttle_ratio.kind(), OutcomeKind::kNotAvailable);
    EXPECT_GT(delta.held_by_unseen.value(), std::chrono::milliseconds(300));
  }
}

}  // namespace
}  // namespace throttletest
