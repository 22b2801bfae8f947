#include "throttletest/cgroup/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_text.h"
#include "fake_cgroups.h"
#include "support/temp_tree.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing_support::TempTree;
using Source = EffectiveCpuLimit::Source;

const std::string kData = THROTTLETEST_TEST_DATA "/cgroup/";

Cgroup OpenRecorded(const std::string& name, pid_t pid) {
  const std::string root = kData + name;
  return Cgroup::Open(LocateCgroup(pid, root + "/proc", root), root);
}

// What is the same for the one container of all hand-written trees.
void ExpectTheContainer(const Snapshot& snapshot) {
  ASSERT_FALSE(snapshot.cpu.empty());
  const CpuLevel& leaf = snapshot.cpu.front();
  ASSERT_TRUE(leaf.bandwidth && leaf.counters);
  EXPECT_EQ(*leaf.bandwidth, (CpuBandwidth{.quota = 50ms}));
  EXPECT_EQ(leaf.counters->periods, 53);
  EXPECT_EQ(leaf.counters->throttled_periods, 51);
  EXPECT_EQ(leaf.counters->throttled_time, 7480ms);
  EXPECT_NE(leaf.inode, 0u);
  EXPECT_EQ(snapshot.usage, 2611ms);
  EXPECT_EQ(snapshot.memory.limit, 64_MiB);
  EXPECT_EQ(snapshot.memory.peak, 12582912);
  EXPECT_EQ(snapshot.memory.oom_kills, 0);
  EXPECT_EQ(snapshot.cpuset, CpuSet::Parse("0-7"));
  EXPECT_EQ(snapshot.online, CpuSet::Parse("0-7"));
  EXPECT_EQ(snapshot.EffectiveCpu().cpus, 0.5);
}

TEST(SnapshotRead, C078ReadsAV2Host) {
  const Snapshot snapshot = OpenRecorded("v2_host", 4242).Read();
  ExpectTheContainer(snapshot);
  ASSERT_THAT(snapshot.cpu, SizeIs(3));
  EXPECT_EQ(snapshot.cpu[0].path, "/system.slice/docker-3f2a.scope");
  EXPECT_EQ(snapshot.cpu[1].path, "/system.slice");
  EXPECT_FALSE(snapshot.cpu[1].bandwidth->limited());
  EXPECT_EQ(snapshot.cpu[2].path, "/");
  EXPECT_FALSE(snapshot.cpu[2].bandwidth) << "the root has no limit files";
  EXPECT_FALSE(snapshot.cpu[2].counters);
  EXPECT_EQ(snapshot.cpu[0].held_time, 7480ms);
  EXPECT_EQ(snapshot.user, 2600ms);
  EXPECT_EQ(snapshot.system, 11ms);
  EXPECT_EQ(snapshot.cpu[0].counters->bursts, 0);
  EXPECT_EQ(snapshot.memory.swap_limit, 128_MiB);
  EXPECT_EQ(snapshot.memory.limit_path, "/system.slice/docker-3f2a.scope");
  EXPECT_EQ(snapshot.pressure.cpu_some, 2400ms);
  EXPECT_EQ(snapshot.pressure.memory_full, 1100us);
  EXPECT_FALSE(snapshot.ancestors_hidden);
}

TEST(SnapshotRead, ReadsAV2ContainerFromInside) {
  const Snapshot snapshot = OpenRecorded("v2_container_private_cgroupns", 1).Read();
  ExpectTheContainer(snapshot);
  EXPECT_THAT(snapshot.cpu, SizeIs(1));
  EXPECT_TRUE(snapshot.ancestors_hidden);
  EXPECT_TRUE(snapshot.EffectiveCpu().ancestors_hidden);
  EXPECT_EQ(snapshot.pressure.cpu_some, 2400ms);
}

TEST(SnapshotRead, ReadsAV1Host) {
  const Snapshot snapshot = OpenRecorded("v1_host", 4242).Read();
  ExpectTheContainer(snapshot);
  EXPECT_THAT(snapshot.cpu, SizeIs(3));
  EXPECT_FALSE(snapshot.cpu[0].held_time) << "no cpu.stat.local on this kernel";
  EXPECT_FALSE(snapshot.cpu[0].counters->bursts);
  EXPECT_FALSE(snapshot.memory.swap_limit);
  EXPECT_FALSE(snapshot.user);
  EXPECT_FALSE(snapshot.pressure.cpu_some);
}

TEST(SnapshotRead, C071ReadsAV1ContainerFromInside) {
  const Snapshot snapshot = OpenRecorded("v1_container_host_cgroupns", 1).Read();
  ExpectTheContainer(snapshot);
  EXPECT_TRUE(snapshot.ancestors_hidden);
}

TEST(SnapshotRead, C028ReadsThrottlingOnAHybridHostFromV1) {
  const Snapshot snapshot = OpenRecorded("hybrid_host", 4242).Read();
  ASSERT_THAT(snapshot.cpu, SizeIs(2));
  EXPECT_EQ(*snapshot.cpu[0].counters, (BandwidthCounters{.periods = 34,
                                                          .throttled_periods = 26,
                                                          .throttled_time = 415591927ns,
                                                          .bursts = 0,
                                                          .burst_time = 0ns}));
  EXPECT_FALSE(snapshot.cpu[0].held_time) << "nothing above could hold it";
  EXPECT_EQ(snapshot.usage, 1557813007ns);
  EXPECT_EQ(snapshot.memory.swap_limit, 128_MiB);
  EXPECT_EQ(snapshot.pressure.cpu_some, 1536329us) << "pressure comes from the v2 tree";
  EXPECT_FALSE(snapshot.cpu[1].bandwidth) << "a root cannot be limited";
}

TEST(SnapshotRead, C058RefusesTheRootCgroup) {
  const FakeV2 fake;
  EXPECT_THAT(
      ErrorText(ErrorCode::kCgroup, [&] { Cgroup::Open(FakeV2::At("/"), fake.tree.root()); }),
      HasSubstr("SUT is in the root cgroup (/sys/fs/cgroup), cannot be limited"));
  CgroupLocation v1;
  v1.cpu = ControllerLocation{CgroupVersion::kV1, "/sys/fs/cgroup/cpu", "/", false};
  EXPECT_THAT(ErrorText(ErrorCode::kCgroup, [&] { Cgroup::Open(v1, kData + "hybrid_host"); }),
              HasSubstr("cannot be limited"));
  const Snapshot root = Cgroup::Open(FakeV2::At("/"), fake.tree.root(), true).Read();
  EXPECT_EQ(root.usage, 9us);
  EXPECT_FALSE(root.cpu.front().bandwidth);
}

TEST(SnapshotRead, C056TellsAWeightAsItIsAndTakesNoLimitFromIt) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  // 1024 shares, as older and newer engines convert them.
  for (const std::int64_t weight : {39, 100}) {
    fake.Set("/a", "cpu.weight", std::to_string(weight) + "\n");
    const Snapshot snapshot = Cgroup::Open(FakeV2::At("/a"), fake.tree.root()).Read();
    EXPECT_EQ(snapshot.cpu_weight, weight);
    EXPECT_FALSE(snapshot.cpu.front().bandwidth->limited());
    EXPECT_EQ(snapshot.EffectiveCpu().source, Source::kOnlineCpus);
  }
  EXPECT_EQ(OpenRecorded("v1_host", 4242).Read().cpu_weight, 1024) << "shares are not converted";
  EXPECT_FALSE(Cgroup::Open(FakeV2::At("/"), fake.tree.root(), true).Read().cpu_weight);
}

TEST(SnapshotRead, C049ReadsWhatSystemdMakesOfAPercentage) {
  struct Quota {
    const char* percentage;
    const char* cpu_max;
    double cpus;
  };
  const FakeV2 fake;
  fake.AddLevel("/web.service");
  // A quota has to be 1 ms or more: for half a percent systemd makes the period longer.
  for (const Quota& quota :
       {Quota{"200%", "200000 100000\n", 2.0}, Quota{"50%", "50000 100000\n", 0.5},
        Quota{"150.5%", "150500 100000\n", 1.505}, Quota{"0.5%", "1000 200000\n", 0.005}}) {
    fake.Set("/web.service", "cpu.max", quota.cpu_max);
    const Snapshot snapshot = Cgroup::Open(FakeV2::At("/web.service"), fake.tree.root()).Read();
    EXPECT_DOUBLE_EQ(snapshot.EffectiveCpu().cpus, quota.cpus) << quota.percentage;
    EXPECT_EQ(snapshot.EffectiveCpu().source, Source::kQuota) << quota.percentage;
  }
}

TEST(SnapshotRead, C106HasNoPeakWhereTheKernelHasNone) {
  TempTree tree(kData + "v2_host");
  tree.Remove("sys/fs/cgroup/system.slice/docker-3f2a.scope/memory.peak");
  const Snapshot snapshot =
      Cgroup::Open(LocateCgroup(4242, tree.Path("proc"), tree.root()), tree.root()).Read();
  EXPECT_FALSE(snapshot.memory.peak);
}

TEST(SnapshotRead, C093SaysThatTheCgroupIsGone) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  fake.tree.Remove("sys/fs/cgroup/a");
  fake.AddLevel("/a");  // another one under the same name
  // Only the kernel refuses to read the open files of a cgroup that was removed: kernel_test.cc.
  EXPECT_THAT(ErrorText(ErrorCode::kCgroup, [&] { cgroup.Processes(); }),
              HasSubstr("cgroup is gone: "));
  fake.tree.Remove("sys/fs/cgroup/a");
  EXPECT_THAT(
      ErrorText(ErrorCode::kCgroup, [&] { Cgroup::Open(FakeV2::At("/a"), fake.tree.root()); }),
      HasSubstr("cgroup is gone: "));
}

TEST(SnapshotRead, C035NotesAnIgnoredField) {
  const FakeV2 fake;
  fake.AddLevel("/a", "50000 100000 0\n");
  EXPECT_THAT(Cgroup::Open(FakeV2::At("/a"), fake.tree.root()).Read().notes,
              ElementsAre(HasSubstr("\"50000 100000 0\"")));
}

TEST(SnapshotRead, ClimbsToTheNearestCpusetAndSkipsEmptyOnes) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.AddLevel("/a/b");
  fake.Set("/a", "cpuset.cpus.effective", "2-3\n");
  fake.Set("/a/b", "cpuset.cpus.effective", "\n");
  const Snapshot snapshot = Cgroup::Open(FakeV2::At("/a/b"), fake.tree.root()).Read();
  EXPECT_EQ(snapshot.cpuset, CpuSet::Parse("2-3"));
  EXPECT_EQ(snapshot.cpuset_path, "/a");
}

TEST(SnapshotRead, ReadsMemoryInUseNowForTheTimelineToo) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.Set("/a", "memory.current", "4096\n");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  EXPECT_EQ(cgroup.Read().memory.usage, 4096);
  EXPECT_EQ(cgroup.ReadQuick(Cgroup::QuickMemory::kRead).memory, 4096);
  fake.Set("/a", "memory.current", "8192\n");
  EXPECT_EQ(cgroup.ReadQuick(Cgroup::QuickMemory::kRead).memory, 8192);
  EXPECT_FALSE(cgroup.ReadQuick().memory);
}

TEST(SnapshotRead, SetsThePeakBackWhereThereIsOne) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  EXPECT_FALSE(Cgroup::Open(FakeV2::At("/a"), fake.tree.root()).RestartPeak());
  fake.Set("/a", "memory.peak", "5\n");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  EXPECT_EQ(cgroup.Read().memory.peak, 5);
  EXPECT_TRUE(cgroup.RestartPeak());
  EXPECT_EQ(fake.Read("/a", "memory.peak"), "0\n") << "a kernel would give what is in use now";
}

TEST(SnapshotRead, TakesTheSmallestMemoryLimitOfTheChain) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.AddLevel("/a/b");
  fake.Set("/a", "memory.max", "67108864\n");
  fake.Set("/a", "memory.swap.max", "0\n");
  fake.Set("/a/b", "memory.max", "max\n");
  fake.Set("/a/b", "memory.swap.max", "max\n");
  const Snapshot snapshot = Cgroup::Open(FakeV2::At("/a/b"), fake.tree.root()).Read();
  EXPECT_EQ(snapshot.memory.limit, 64_MiB);
  EXPECT_EQ(snapshot.memory.swap_limit, 64_MiB);
  EXPECT_EQ(snapshot.memory.limit_path, "/a");
}

TEST(SnapshotRead, DoesNotTakeTheMachinesFiguresForTheServices) {
  const std::string host = kData + "hybrid_host";
  CgroupLocation location = LocateCgroup(4242, host + "/proc", host);
  for (auto* place : {&location.cpuacct, &location.memory, &location.unified}) {
    (*place)->relative_path = "/";
  }
  const Snapshot snapshot = Cgroup::Open(location, host).Read();
  EXPECT_TRUE(snapshot.cpu.front().counters);
  EXPECT_FALSE(snapshot.usage);
  EXPECT_EQ(snapshot.memory, MemoryCounters{});
  EXPECT_EQ(snapshot.pressure, PressureCounters{});
}

TEST(SnapshotRead, QuotesAMalformedFile) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  fake.Set("/a", "cpu.stat", "usage_usec 1\nnr_periods x\n");
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [&] { cgroup.Read(); }),
              HasSubstr("/sys/fs/cgroup/a/cpu.stat: line \"nr_periods x\""));
}

TEST(SnapshotRead, ListsProcesses) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.Set("/a", "cgroup.procs", "12\n13\n");
  EXPECT_THAT(Cgroup::Open(FakeV2::At("/a"), fake.tree.root()).Processes(), ElementsAre(12, 13));
}

TEST(SnapshotReadQuick, SumsTheLevelsWithAQuota) {
  const FakeV2 fake;
  fake.AddLevel("/a", "30000 100000\n");
  fake.AddLevel("/a/b", "50000 100000\n");
  fake.SetStat("/a", 100, 10, 4, 7000);
  fake.SetStat("/a/b", 90, 8, 1, 500);
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a/b"), fake.tree.root());
  const Cgroup::Quick quick = cgroup.ReadQuick();
  EXPECT_EQ(quick.usage, 90us);
  ASSERT_TRUE(quick.counters);
  EXPECT_EQ(quick.counters->periods, 18);
  EXPECT_EQ(quick.counters->throttled_periods, 5);
  EXPECT_EQ(quick.counters->throttled_time, 7500us);
}

TEST(SnapshotReadQuick, FollowsAQuotaThatAppears) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  EXPECT_FALSE(cgroup.ReadQuick().counters) << "no quota is not zero throttling";
  fake.Set("/a", "cpu.max", "30000 100000\n");
  cgroup.Read();
  EXPECT_TRUE(cgroup.ReadQuick().counters);
}

Snapshot WithLevels(std::vector<CpuLevel> levels) {
  Snapshot snapshot;
  snapshot.cpu = std::move(levels);
  snapshot.online = CpuSet::Parse("0-7");
  return snapshot;
}

CpuLevel Level(const std::string& path, std::optional<std::chrono::microseconds> quota) {
  CpuLevel level;
  level.path = path;
  level.bandwidth = CpuBandwidth{.quota = quota};
  return level;
}

TEST(EffectiveCpu, C006TakesTheLimitOfAnAncestor) {
  const auto effective =
      WithLevels({Level("/a/b", std::nullopt), Level("/a", 200ms), CpuLevel{}}).EffectiveCpu();
  EXPECT_EQ(effective.cpus, 2.0);
  EXPECT_EQ(effective.source, Source::kQuota);
  EXPECT_EQ(effective.path, "/a");
  EXPECT_EQ(effective.quota_path, "/a");
}

TEST(EffectiveCpu, C015TellsOneCpuByQuotaFromOneByCpusetFromNone) {
  const auto quota = WithLevels({Level("/a", 100ms)}).EffectiveCpu();
  EXPECT_EQ(quota.cpus, 1.0);
  EXPECT_EQ(quota.source, Source::kQuota);
  const auto none = WithLevels({Level("/a", std::nullopt)}).EffectiveCpu();
  EXPECT_EQ(none.cpus, 8.0);
  EXPECT_EQ(none.source, Source::kOnlineCpus);
  EXPECT_FALSE(none.quota);
  Snapshot pinned = WithLevels({Level("/a", std::nullopt)});
  pinned.cpuset = CpuSet::Parse("0");
  pinned.cpuset_path = "/a";
  EXPECT_EQ(pinned.EffectiveCpu().cpus, 1.0);
  EXPECT_EQ(pinned.EffectiveCpu().source, Source::kCpuset);
  EXPECT_EQ(pinned.EffectiveCpu().path, "/a");
}

TEST(EffectiveCpu, NamesTheQuotaOfTwoEqualBounds) {
  Snapshot snapshot = WithLevels({Level("/a", 100ms)});
  snapshot.cpuset = CpuSet::Parse("3");
  EXPECT_EQ(snapshot.EffectiveCpu().source, Source::kQuota) << "it is the one that throttles";
}

TEST(EffectiveCpu, TakesTheSmallestOfAll) {
  Snapshot snapshot = WithLevels({Level("/a/b", 300ms), Level("/a", 150ms)});
  EXPECT_EQ(snapshot.EffectiveCpu().path, "/a");
  snapshot.cpuset = CpuSet::Parse("3");
  snapshot.cpuset_path = "/a/b";
  const auto effective = snapshot.EffectiveCpu();
  EXPECT_EQ(effective.cpus, 1.0);
  EXPECT_EQ(effective.source, Source::kCpuset);
  EXPECT_EQ(effective.quota, (CpuBandwidth{.quota = 150ms})) << "known although not what bounds";
  EXPECT_EQ(effective.quota_path, "/a");
}

}  // namespace
}  // namespace throttletest
