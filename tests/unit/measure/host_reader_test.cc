// What the rest of the machine did, from recorded files.
#include "measure/host_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_tree.h"

namespace throttletest {
namespace {

using internal::HostReader;
using internal::HostSnapshot;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

const std::chrono::nanoseconds kTick(1'000'000'000 / ::sysconf(_SC_CLK_TCK));

HostSnapshot At(std::chrono::nanoseconds time, HostSnapshot::Cpu cpu,
                std::chrono::nanoseconds own_cpu = 0s) {
  HostSnapshot snapshot{.time = std::chrono::steady_clock::time_point(time), .cpu = cpu};
  snapshot.own_cpu = own_cpu;
  return snapshot;
}

CpuLevel Level(const std::string& path, std::int64_t throttled) {
  CpuLevel level{.path = path, .bandwidth = CpuBandwidth{50ms}};
  level.counters = BandwidthCounters{.periods = 100, .throttled_periods = throttled};
  return level;
}

TEST(HostReader, ReadsBusyStealAndPressure) {
  const testing_support::TempTree tree;
  tree.Write("stat", "cpu  1 20 300 9999 8888 4000 50000 600000 70 80\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  tree.Write("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500\n");
  const HostSnapshot snapshot = HostReader(tree.root(), tree.root()).Read();
  ASSERT_TRUE(snapshot.cpu);
  EXPECT_EQ(snapshot.cpu->busy, 54321 * kTick);
  EXPECT_EQ(snapshot.cpu->steal, 600000 * kTick);
  EXPECT_EQ(snapshot.pressure, 2500us);
  EXPECT_GT(snapshot.own_cpu, 0ns);
  EXPECT_THAT(snapshot.own_levels, SizeIs(0));
}

TEST(HostReader, LeavesAbsentWhatCannotBeRead) {
  const testing_support::TempTree tree;
  const HostSnapshot nothing = HostReader(tree.root(), tree.root()).Read();
  EXPECT_FALSE(nothing.cpu);
  EXPECT_FALSE(nothing.pressure);
  tree.Write("stat", "cpu 1 2 three\n");
  EXPECT_FALSE(HostReader(tree.root(), tree.root()).Read().cpu);
}

TEST(HostReader, ReadsTheQuotaAboveThisProcess) {
  const testing_support::TempTree tree;
  const std::string pid = std::to_string(::getpid());
  tree.Write(pid + "/cgroup", "0::/ci/job\n");
  tree.Write("self/mountinfo", "30 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  tree.Write("sys/devices/system/cpu/online", "0-1\n");
  tree.Write("sys/fs/cgroup/cgroup.controllers", "cpu\n");
  for (const std::string path : {"sys/fs/cgroup/ci", "sys/fs/cgroup/ci/job"}) {
    tree.Write(path + "/cpu.max", "20000 100000\n");
    tree.Write(path + "/cpu.stat",
               "usage_usec 1\nnr_periods 9\nnr_throttled 4\nthrottled_usec 7\n");
  }
  const HostSnapshot snapshot = HostReader(tree.root(), tree.root()).Read();
  ASSERT_THAT(snapshot.own_levels, SizeIs(testing::Ge(2U)));
  EXPECT_EQ(snapshot.own_levels[0].path, "/ci/job");
  EXPECT_EQ(snapshot.own_levels[0].bandwidth->quota, 20ms);
  EXPECT_EQ(snapshot.own_levels[0].counters->throttled_periods, 4);
}

TEST(HostActivity, OthersAreWhatNeitherTheServiceNorThisProcessUsed) {
  const HostSnapshot before = At(0s, {.busy = 100s, .steal = 1s}, 3s);
  const HostSnapshot after = At(10s, {.busy = 112s, .steal = 2s}, 4s);
  const HostActivity activity = Subtract(before, after, 6s, 2);
  EXPECT_DOUBLE_EQ(activity.others_cpu.value(), 0.25);
  EXPECT_DOUBLE_EQ(activity.steal.value(), 0.05);
  // Ticks are coarser than what a cgroup counts.
  EXPECT_EQ(Subtract(before, after, 60s, 2).others_cpu.value(), 0.0);
}

TEST(HostActivity, OtherServicesOfTheTestAreNotOthers) {
  HostSnapshot before = At(0s, {});
  HostSnapshot after = At(10s, {.busy = 12s});
  // Only compared, never used.
  const auto* running = static_cast<const Service*>(static_cast<const void*>(&before));
  const auto* new_one = static_cast<const Service*>(static_cast<const void*>(&after));
  before.services = {{running, 5s}};
  after.services = {{running, 11s}, {new_one, 1s}};
  EXPECT_DOUBLE_EQ(Subtract(before, after, 1s, 2).others_cpu.value(), 0.25);
}

TEST(HostActivity, IsNotAvailableRatherThanZero) {
  const HostSnapshot before = At(0s, {});
  const HostSnapshot after = At(10s, {.busy = 12s});
  EXPECT_THAT(Subtract(before, after, std::nullopt, 2).others_cpu.reason(),
              HasSubstr("CPU time of the service is not known"));
  EXPECT_TRUE(Subtract(before, after, std::nullopt, 2).steal.has_value());
  // Bounded all the same: by what it is together with the service's part.
  EXPECT_DOUBLE_EQ(Subtract(before, after, std::nullopt, 2).most_others_cpu.value(), 0.6);
  EXPECT_DOUBLE_EQ(Subtract(before, after, 6s, 2).most_others_cpu.value(), 0.3);
  EXPECT_THAT(Subtract(before, after, 1s, 0).others_cpu.reason(), HasSubstr("online CPUs"));
  EXPECT_THAT(Subtract(before, At(999ms, {.busy = 1s}), 0s, 2).steal.reason(),
              HasSubstr("below 1 s is too short"));
  EXPECT_THAT(Subtract({}, after, 1s, 2).others_cpu.reason(), HasSubstr("/proc/stat"));
  EXPECT_THAT(Subtract(before, after, 1s, 2).cpu_pressure.reason(), HasSubstr("no pressure"));
  EXPECT_THAT(Subtract(before, after, 1s, 2).own_throttled_periods.reason(),
              HasSubstr("no CPU quota is visible"));
}

TEST(HostActivity, NamesTheLevelThatStoppedThisProcessMost) {
  HostSnapshot before = At(0s, {});
  HostSnapshot after = At(10s, {});
  before.own_levels = {Level("/ci/job", 10), Level("/ci", 40), Level("/", 0)};
  after.own_levels = {Level("/ci/job", 12), Level("/ci", 47), Level("/", 90)};
  after.own_levels[2].bandwidth = CpuBandwidth{};  // unlimited: its counters say nothing
  const HostActivity activity = Subtract(before, after, 0s, 2);
  EXPECT_EQ(activity.own_throttled_periods.value(), 7);
  EXPECT_EQ(activity.own_quota, "/ci (50 ms per 100 ms (0.5 CPUs))");
}

TEST(HostActivity, TellsHowLongAnUnseenLevelHeldThisProcess) {
  HostSnapshot before = At(0s, {});
  HostSnapshot after = At(10s, {});
  before.own_levels = after.own_levels = {Level("/", 0)};
  EXPECT_THAT(Subtract(before, after, 0s, 2).own_held_by_unseen.reason(),
              HasSubstr("every level above the test process is visible"));
  before.own_unseen = after.own_unseen = "the levels above /cg";
  EXPECT_THAT(Subtract(before, after, 0s, 2).own_held_by_unseen.reason(), HasSubstr("needs 6.6"));
  before.own_levels[0].held_time = 1s;
  after.own_levels[0].held_time = 1200ms;
  after.own_levels[0].counters->throttled_time = 50ms;
  const HostActivity activity = Subtract(before, after, 0s, 2);
  EXPECT_EQ(activity.own_held_by_unseen.value(), 150ms);
  EXPECT_EQ(activity.own_unseen, "the levels above /cg");
  after.own_lack = "it is gone";
  EXPECT_THAT(Subtract(before, after, 0s, 2).own_held_by_unseen.reason(), HasSubstr("is gone"));
}

TEST(HostActivity, TellsTheShareOfTimeInWhichSomeTaskWaited) {
  HostSnapshot before = At(0s, {});
  HostSnapshot after = At(10s, {});
  before.pressure = 1s;
  after.pressure = 4s;
  EXPECT_DOUBLE_EQ(Subtract(before, after, 0s, 2).cpu_pressure.value(), 0.3);
}

}  // namespace
}  // namespace throttletest
