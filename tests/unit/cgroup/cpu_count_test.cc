#include "throttletest/cgroup/cpu_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "error_text.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

const CpuSet kEightCpus({0, 1, 2, 3, 4, 5, 6, 7});

CpuView Under(double cpus) { return ViewUnder({.cpus = cpus}, kEightCpus); }

struct Row {
  double cpus;
  int hotspot, go, automaxprocs, dotnet, nproc;
};

// Published for HotSpot: 0.1, 0.5, 1 -> 1; 1.5, 2 -> 2; 2.5 -> 3; 4 -> 4.
class RuntimeRow : public testing::TestWithParam<Row> {};

TEST_P(RuntimeRow, FollowsTheRuleOfEach) {
  const Row& row = GetParam();
  const CpuView view = Under(row.cpus);
  EXPECT_EQ(DerivedCpuCount(Runtime::kHotSpot, view), row.hotspot);
  EXPECT_EQ(DerivedCpuCount(Runtime::kGo, view), row.go);
  EXPECT_EQ(DerivedCpuCount(Runtime::kAutomaxprocs, view), row.automaxprocs);
  EXPECT_EQ(DerivedCpuCount(Runtime::kDotNet, view), row.dotnet);
  EXPECT_EQ(DerivedCpuCount(Runtime::kNproc, view), row.nproc);
  for (const Runtime blind : {Runtime::kGoBefore125, Runtime::kNprocBefore98, Runtime::kOpenMp,
                              Runtime::kHardwareConcurrency}) {
    EXPECT_EQ(DerivedCpuCount(blind, view), 8) << RuntimeName(blind);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuntimeRow,
                         testing::Values(Row{0.1, 1, 2, 1, 1, 1}, Row{0.5, 1, 2, 1, 1, 1},
                                         Row{1, 1, 2, 1, 1, 1}, Row{1.1, 2, 2, 1, 2, 1},
                                         Row{1.5, 2, 2, 1, 2, 2}, Row{2, 2, 2, 2, 2, 2},
                                         Row{2.5, 3, 3, 2, 3, 3}, Row{2.999, 3, 3, 2, 3, 3},
                                         Row{4, 4, 4, 4, 4, 4},
                                         // More than the machine has: all but one know its size.
                                         Row{20, 8, 8, 20, 8, 8}));

TEST(CpuCount, C039ALimitStaysAFractionUntilARuntimeRoundsIt) {
  for (const double cpus : {1.5, 0.5, 2.999}) {
    EXPECT_EQ(Under(cpus).quota->cpus(), cpus);
  }
  EXPECT_EQ(DerivedCpuCount(Runtime::kHotSpot, Under(2.999)), 3);
  EXPECT_EQ(DerivedCpuCount(Runtime::kAutomaxprocs, Under(2.999)), 2);
}

TEST(CpuCount, C165DotNetAndHotSpotRoundUp) {
  for (const Runtime runtime : {Runtime::kDotNet, Runtime::kHotSpot}) {
    EXPECT_EQ(DerivedCpuCount(runtime, Under(0.5)), 1);
    EXPECT_EQ(DerivedCpuCount(runtime, Under(1.5)), 2);
  }
}

// No function says what Node takes; the names that there are, are told apart.
TEST(CpuCount, C163NothingIsAssumedOfNode) {
  std::set<std::string> names;
  for (const Runtime runtime : kRuntimes) names.insert(RuntimeName(runtime));
  EXPECT_EQ(names.size(), kRuntimes.size());
  for (const std::string& name : names) EXPECT_THAT(name, testing::Not(HasSubstr("ode")));
}

TEST(CpuCount, C166ManyRuntimesTakeEveryCpuOfTheHost) {
  const CpuView view{.quota = CpuBandwidth{100ms}, .allowed = 16, .online = 16};
  EXPECT_EQ(DerivedCpuCount(Runtime::kOpenMp, view), 16);
  EXPECT_EQ(ThreadsOfQuota(*view.quota), 1);
}

TEST(CpuCount, ACpusetBoundsAllThatLookAtTheirAffinity) {
  const CpuView view = ViewUnder({.cpus = 3, .cpuset = "2"}, kEightCpus);
  for (const Runtime runtime : {Runtime::kHotSpot, Runtime::kGo, Runtime::kGoBefore125,
                                Runtime::kDotNet, Runtime::kNproc, Runtime::kOpenMp}) {
    EXPECT_EQ(DerivedCpuCount(runtime, view), 1) << RuntimeName(runtime);
  }
  EXPECT_EQ(DerivedCpuCount(Runtime::kAutomaxprocs, view), 3);
  EXPECT_EQ(DerivedCpuCount(Runtime::kHardwareConcurrency, view), 8);
}

TEST(CpuCount, WithoutAQuotaTheAffinityDecides) {
  const CpuView view = ViewUnder({.cpuset = "0-2"}, kEightCpus);
  for (const Runtime runtime : kRuntimes) {
    const bool blind = runtime == Runtime::kHardwareConcurrency;
    EXPECT_EQ(DerivedCpuCount(runtime, view), blind ? 8 : 3) << RuntimeName(runtime);
  }
  // A period alone is no quota.
  EXPECT_EQ(DerivedCpuCount(Runtime::kGo, {.quota = CpuBandwidth{}, .allowed = 5, .online = 8}), 5);
}

TEST(CpuCount, NprocLooksAtNoQuotaOnV1) {
  CpuView view = Under(1);
  view.cgroup_v2 = false;
  EXPECT_EQ(DerivedCpuCount(Runtime::kNproc, view), 8);
}

TEST(CpuCount, TheShareCountsAndNotThePeriod) {
  const CpuView view = ViewUnder({.quota = 15ms, .period = 10ms}, kEightCpus);
  EXPECT_EQ(DerivedCpuCount(Runtime::kHotSpot, view), 2);
  EXPECT_EQ(DerivedCpuCount(Runtime::kAutomaxprocs, view), 1);
}

TEST(CpuCount, TakesTheSmallestQuotaOfAChain) {
  Snapshot snapshot;
  snapshot.online = kEightCpus;
  snapshot.cpuset = CpuSet({0, 1, 2, 3, 4, 5});
  snapshot.cpu = {{.path = "/a/b", .bandwidth = CpuBandwidth{}},
                  {.path = "/a", .bandwidth = CpuBandwidth{250ms}}};
  const CpuView view = ViewOf(snapshot);
  EXPECT_EQ(view.quota->cpus(), 2.5);
  EXPECT_EQ(view.allowed, 6);
  EXPECT_EQ(view.online, 8);
}

TEST(CpuCount, RefusesAMachineWithoutCpus) {
  for (const CpuView& view :
       {CpuView{.allowed = 0, .online = 8}, CpuView{.allowed = 9, .online = 8}}) {
    EXPECT_THAT(
        ErrorText(ErrorCode::kInvalidArgument, [&] { DerivedCpuCount(Runtime::kGo, view); }),
        HasSubstr("of 8 online ones are not possible"));
  }
}

TEST(CpuCount, AQuotaKeepsItsCpusBusyAndAtLeastOneThread) {
  EXPECT_EQ(ThreadsOfQuota(CpuBandwidth{1ms}), 1);
  EXPECT_EQ(ThreadsOfQuota(CpuBandwidth{200ms}), 2);
  EXPECT_EQ(ThreadsOfQuota(CpuBandwidth{201ms}), 3);
  EXPECT_EQ(ThreadsOfQuota(CpuBandwidth{}), std::nullopt);
}

}  // namespace
}  // namespace throttletest
