// Limits of services that the cgroup launcher runs: in force, counted from the first instruction,
// changed while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "service/cgroup_place.h"
#include "service_support.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/read_back.h"

namespace throttletest::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CgroupLimits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override { EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty()); }
};

TEST_F(CgroupLimits, AreInForceWhenTheServiceIsReady) {
  const auto service = StartService(Toy({"--port={port}"}, {.quota = milliseconds(30),
                                                            .period = milliseconds(60),
                                                            .burst = milliseconds(10),
                                                            .memory = 64_MiB,
                                                            .memory_swap = 64_MiB}));
  const Snapshot snapshot = service->cgroup().Read();
  ASSERT_FALSE(snapshot.cpu.empty());
  ASSERT_TRUE(snapshot.cpu[0].bandwidth.has_value());
  EXPECT_EQ(snapshot.cpu[0].bandwidth->quota, microseconds(30000));
  EXPECT_EQ(snapshot.cpu[0].bandwidth->period, microseconds(60000));
  EXPECT_EQ(snapshot.cpu[0].bandwidth->burst, microseconds(10000));
  EXPECT_EQ(snapshot.memory.limit, 64_MiB);
  EXPECT_TRUE(service->alive());
  EXPECT_EQ(service->Trouble(), "");
  EXPECT_THAT(service->launcher_version(), HasSubstr("cgroup v"));
}

TEST_F(CgroupLimits, NoneAskedForMeansNoQuotaInForce) {
  const auto service = StartService(Toy({"--port={port}"}));
  EXPECT_FALSE(service->cgroup().Read().cpu[0].bandwidth->limited());
}

TEST_F(CgroupLimits, C173ACpusetGetsMemoryNodesToo) {
  const auto service = StartService(Toy({"--port={port}"}, {.cpuset = "0"}));
  const Snapshot snapshot = service->cgroup().Read();
  ASSERT_TRUE(snapshot.cpuset.has_value());
  EXPECT_EQ(snapshot.cpuset->ToString(), "0");
  EXPECT_EQ(snapshot.EffectiveCpu().source, EffectiveCpuLimit::Source::kCpuset);
}

TEST_F(CgroupLimits, C181WhatTheFirstInstructionsUseIsCounted) {
  const auto service =
      StartService(Toy({"--burn=200", "--touch=48", "--port={port}"}, {.memory = 256_MiB}));
  const Snapshot snapshot = service->cgroup().Read();
  ASSERT_TRUE(snapshot.usage.has_value());
  EXPECT_GE(*snapshot.usage, milliseconds(190));
  ASSERT_TRUE(snapshot.memory.peak.has_value());
  EXPECT_GE(*snapshot.memory.peak, (48_MiB).bytes());
}

TEST_F(CgroupLimits, C081TheProcessIsInsideThePlannedCgroup) {
  const auto service = StartService(Toy({"--fork=2", "--port={port}"}));
  const auto where = LocateCgroup(service->pid());
  EXPECT_EQ(where.cpu->relative_path, service->cgroup().location().cpu->relative_path);
  EXPECT_THAT(where.cpu->relative_path, HasSubstr("/throttletest-"));
  EXPECT_EQ(service->cgroup().Processes().size(), 3U);
}

TEST_F(CgroupLimits, C081AServiceThatLeftThePlannedCgroupIsNotStarted) {
  const std::string home = LocateCgroup(::getpid()).cpu->directory() + "/cgroup.procs";
  if (::access(home.c_str(), W_OK) != 0) GTEST_SKIP() << "nothing can leave for " << home;
  ServiceSpec spec = Toy({});
  // By the shell's own builtins: what a program in the service could do as well.
  spec.command = {"sh", "-c", "echo $$ > " + home + "; echo gone; exec sleep 60"};
  spec.ready = Wrote("gone");
  EXPECT_THAT(StartError(spec),
              AllOf(HasSubstr("the service is not inside the limited cgroup: process "),
                    HasSubstr(" instead of /")));
}

TEST_F(CgroupLimits, C088LimitsAreWrittenIntoAChildOfTheUnit) {
  const CgroupLocation own = LocateCgroup(::getpid());
  const internal::PlaceAnswer answer = internal::FindCgroupPlace(internal::CgroupNeeds{});
  const auto service = StartService(Toy({"--port={port}"}, {.cpus = 0.5}));
  const Snapshot snapshot = service->cgroup().Read();
  ASSERT_GE(snapshot.cpu.size(), 2U);
  EXPECT_NE(snapshot.cpu[0].path, own.cpu->relative_path);
  EXPECT_TRUE(snapshot.cpu[0].bandwidth->limited());
  const CpuLevel& unit = snapshot.cpu[1];
  if (answer.place->systemd) {
    EXPECT_THAT(unit.path, ::testing::EndsWith(".scope"));
  }
  EXPECT_FALSE(unit.bandwidth && unit.bandwidth->limited() &&
               unit.bandwidth == snapshot.cpu[0].bandwidth)
      << unit.path << " has the service's limit, too";
}

TEST_F(CgroupLimits, CanBeChangedWhileTheServiceRuns) {
  auto service = StartService(Toy({"--port={port}"}, {.cpus = 0.5, .memory = 64_MiB}));
  const auto expect_quota = [&](std::optional<microseconds> quota, microseconds period) {
    const Snapshot snapshot = service->cgroup().Read();
    EXPECT_EQ(snapshot.cpu[0].bandwidth->quota, quota);
    EXPECT_EQ(snapshot.cpu[0].bandwidth->period, period);
    EXPECT_TRUE(CheckLimits(service->requested(), snapshot).ok());
  };
  service->Update({.cpus = 2.0, .period = milliseconds(10)});
  expect_quota(milliseconds(20), milliseconds(10));
  service->Update({.quota = milliseconds(400), .period = milliseconds(1000)});
  expect_quota(milliseconds(400), milliseconds(1000));
  service->Update({});
  expect_quota(std::nullopt, milliseconds(100));
  EXPECT_FALSE(service->spec().limits.cpus.has_value());
}

TEST_F(CgroupLimits, ARefusedUpdateLeavesTheFormerOnesInForce) {
  auto service = StartService(Toy({"--port={port}"}, {.cpus = 0.5}));
  EXPECT_THROW(service->Update({.cpus = 0.001}), Error);
  EXPECT_EQ(service->requested().cpu.quota, microseconds(50000));
  EXPECT_EQ(service->cgroup().Read().cpu[0].bandwidth->quota, microseconds(50000));
}

TEST_F(CgroupLimits, StartUnlimitedClampsOnceReady) {
  // 0.02 CPU would need 15 s for the 300 ms that the start burns.
  ServiceSpec spec = Toy({"--burn=300", "--port={port}"}, {.cpus = 0.02});
  spec.start_unlimited = true;
  spec.ready = HttpReady("/").Within(std::chrono::seconds(10));
  const auto service = StartService(spec);
  const Snapshot snapshot = service->cgroup().Read();
  EXPECT_EQ(snapshot.cpu[0].bandwidth->quota, microseconds(2000));
  EXPECT_GE(snapshot.usage.value_or(milliseconds(0)), milliseconds(290));
}

}  // namespace
}  // namespace throttletest::test
