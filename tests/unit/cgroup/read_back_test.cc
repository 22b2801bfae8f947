#include "throttletest/cgroup/read_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapshots.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CpuBandwidth kHalf{.quota = 50ms};

ResolvedLimits Cpu(const CpuBandwidth& bandwidth) { return {.cpu = bandwidth}; }

Snapshot Found(const CpuBandwidth& bandwidth) {
  return SnapshotOf(0s, {LevelOf("/a", 7, bandwidth, 0, 0, 0ns)});
}

ReadBack Check(const CpuBandwidth& wanted, const CpuBandwidth& found) {
  return CheckLimits(Cpu(wanted), Found(found));
}

TEST(CheckLimits, IsContentWithWhatWasAsked) {
  const ReadBack result = Check(kHalf, kHalf);
  EXPECT_TRUE(result.ok());
  EXPECT_THAT(result.notes, IsEmpty());
  EXPECT_TRUE(Check({}, {}).ok());
}

TEST(CheckLimits, C055AllowsOneMicrosecond) {
  EXPECT_TRUE(Check({.quota = 25799us}, {.quota = 25798us}).ok());
  EXPECT_TRUE(Check({.quota = 25799us}, {.quota = 25800us}).ok());
  EXPECT_FALSE(Check({.quota = 25799us}, {.quota = 25797us}).ok());
}

TEST(CheckLimits, AllowsAnEngineToRoundUpAHundredthOfACpu) {
  const ReadBack rounded = Check({.quota = 123456us}, {.quota = 124000us});
  EXPECT_TRUE(rounded.ok());
  EXPECT_THAT(rounded.notes, ElementsAre(HasSubstr("rounded up")));
  EXPECT_FALSE(Check({.quota = 123456us}, {.quota = 124900us}).ok());
  EXPECT_FALSE(Check({.quota = 124000us}, {.quota = 123456us}).ok()) << "never down";
}

TEST(CheckLimits, C020SeesAShrunkenBurst) {
  EXPECT_THAT(Check({.quota = 50ms, .burst = 20ms}, {.quota = 50ms, .burst = 20us}).differences,
              ElementsAre(HasSubstr("burst effective 20 us, requested 20000 us")));
}

TEST(CheckLimits, C031SeesCpusThatBecameNanoCpus) {
  EXPECT_THAT(Check({.quota = 200ms}, {.quota = 1ms}).differences,
              ElementsAre(HasSubstr("0.01 CPUs instead of 2.0")));
}

TEST(CheckLimits, C045SeesAQuotaMeantForAnotherPeriod) {
  const ReadBack result = Check({.quota = 5ms, .period = 10ms}, {.quota = 50ms, .period = 10ms});
  EXPECT_THAT(result.differences, ElementsAre(HasSubstr("5.0 CPUs instead of 0.5")));
}

TEST(CheckLimits, C046NotesTheSameShareInAnotherPeriod) {
  const ReadBack result = Check({.quota = 5ms, .period = 10ms}, kHalf);
  EXPECT_TRUE(result.ok());
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("same share but another period")));
}

TEST(CheckLimits, C021AcceptsWhatTheKernelScaled) {
  EXPECT_TRUE(Check({.quota = 1ms, .period = 1ms, .burst = 100us},
                    {.quota = 2ms, .period = 2ms, .burst = 200us})
                  .ok());
}

TEST(CheckLimits, C049NotesThePeriodThatSystemdMadeLonger) {
  const ReadBack result = Check({.quota = 1ms, .period = 200ms}, {.quota = 1ms, .period = 200ms});
  EXPECT_TRUE(result.ok());
  EXPECT_THAT(result.notes, IsEmpty());
  const ReadBack stretched = Check({.quota = 5ms, .period = 1s}, {.quota = 1ms, .period = 200ms});
  EXPECT_TRUE(stretched.ok());
  EXPECT_THAT(stretched.notes, ElementsAre(HasSubstr("same share but another period")));
}

TEST(CheckLimits, C048TakesAPeriodWithoutAQuotaAsUnlimited) {
  EXPECT_TRUE(Check({.period = 50ms}, {.period = 50ms}).ok());
}

TEST(CheckLimits, C053SeesALimitThatWasDropped) {
  EXPECT_THAT(Check(kHalf, {}).differences,
              ElementsAre("CPU limit not in force: requested 50 ms per 100 ms (0.5 CPUs), /a reads "
                          "unlimited"));
}

TEST(CheckLimits, C083SeesAMissingController) {
  CpuLevel level;
  level.path = "/a";
  EXPECT_THAT(CheckLimits(Cpu(kHalf), SnapshotOf(0s, {level})).differences,
              ElementsAre(HasSubstr("Delegate=cpu")));
  EXPECT_FALSE(CheckLimits(Cpu(kHalf), SnapshotOf(0s, {})).ok());
}

TEST(CheckLimits, C091FindsTheLimitOnTheScopeAbove) {
  CpuLevel container;
  container.path = "/x.scope/container";
  const ReadBack result = CheckLimits(
      Cpu(kHalf), SnapshotOf(0s, {container, LevelOf("/x.scope", 7, kHalf, 0, 0, 0ns)}));
  EXPECT_TRUE(result.ok());
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("the CPU limit is on /x.scope")));
}

TEST(CheckLimits, NamesAnAncestorThatAllowsLess) {
  const ReadBack result =
      CheckLimits(Cpu(kHalf), SnapshotOf(0s, {LevelOf("/p/c", 8, kHalf, 0, 0, 0ns),
                                              LevelOf("/p", 7, {.quota = 30ms}, 0, 0, 0ns)}));
  EXPECT_THAT(result.differences,
              ElementsAre(HasSubstr("the ancestor /p allows less than requested: 30 ms")));
  EXPECT_TRUE(CheckLimits(Cpu(kHalf), SnapshotOf(0s, {LevelOf("/p/c", 8, kHalf, 0, 0, 0ns),
                                                      LevelOf("/p", 7, kHalf, 0, 0, 0ns)}))
                  .ok());
}

TEST(CheckLimits, SeesALimitNobodyAskedFor) {
  EXPECT_THAT(Check({}, kHalf).differences,
              ElementsAre(HasSubstr("no CPU quota requested, but /a has 50 ms")));
  const ReadBack above = CheckLimits(
      {}, SnapshotOf(0s, {LevelOf("/p/c", 8, {}, 0, 0, 0ns), LevelOf("/p", 7, kHalf, 0, 0, 0ns)}));
  EXPECT_TRUE(above.ok());
  EXPECT_THAT(above.notes, ElementsAre(HasSubstr("an ancestor limits: /p")));
}

TEST(CheckLimits, ComparesTheCpuset) {
  const ResolvedLimits wanted{.cpuset = CpuSet::Parse("1")};
  Snapshot found = Found({});
  EXPECT_THAT(CheckLimits(wanted, found).differences, ElementsAre(HasSubstr("not available here")));
  found.cpuset = CpuSet::Parse("0-1");
  found.cpuset_path = "/a";
  EXPECT_THAT(CheckLimits(wanted, found).differences,
              ElementsAre("cpuset differs: requested 1, /a has 0-1"));
  found.cpuset = CpuSet::Parse("1");
  EXPECT_TRUE(CheckLimits(wanted, found).ok());
}

TEST(CheckLimits, ComparesMemoryToTheNextWholePage) {
  ResolvedLimits wanted{.memory = ByteSize(64 * 1024 * 1024 + 100)};
  Snapshot found = Found({});
  EXPECT_FALSE(CheckLimits(wanted, found).ok()) << "no memory controller";
  found.memory.limit = 64_MiB;
  found.memory.swap_limit = ByteSize::Unlimited();
  const ReadBack rounded = CheckLimits(wanted, found);
  EXPECT_TRUE(rounded.ok());
  EXPECT_THAT(rounded.notes, ElementsAre(HasSubstr("whole pages")));
  wanted.memory = 65_MiB;
  EXPECT_THAT(CheckLimits(wanted, found).differences,
              ElementsAre(HasSubstr("memory limit differs: requested 65 MiB, /a has 64 MiB")));
  found.memory.limit = ByteSize::Unlimited();
  EXPECT_FALSE(CheckLimits(wanted, found).ok());
}

TEST(CheckLimits, C180SeesTheSumWrittenIntoTheSwapFile) {
  const ResolvedLimits wanted{.memory = 64_MiB, .memory_and_swap = 64_MiB};
  Snapshot found = Found({});
  found.memory.limit = 64_MiB;
  found.memory.swap_limit = 128_MiB;  // memory.max 64 MiB + memory.swap.max 64 MiB
  EXPECT_THAT(CheckLimits(wanted, found).differences,
              ElementsAre("memory plus swap differs: requested 64 MiB, in force 128 MiB"));
  found.memory.swap_limit = 64_MiB;
  EXPECT_TRUE(CheckLimits(wanted, found).ok());
  found.memory.swap_limit.reset();
  EXPECT_THAT(CheckLimits(wanted, found).notes, ElementsAre(HasSubstr("swap is not accounted")));
}

}  // namespace
}  // namespace throttletest
