// Limits of services in docker and podman: in force, felt, changed while the service runs.
#include <chrono>

#include "cgroup/writer.h"
#include "engine_support.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/delta.h"
#include "throttletest/cgroup/read_back.h"

namespace throttletest::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class EngineLimits : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, EngineLimits,
                         ::testing::Values(LauncherKind::kDocker, LauncherKind::kPodman),
                         EngineName);

void ExpectInForce(const Service& service) {
  const ReadBack read_back = CheckLimits(service.requested(), service.cgroup().Read());
  EXPECT_THAT(read_back.differences, ::testing::IsEmpty());
}

TEST_P(EngineLimits, AreInForceWhenTheServiceIsReady) {
  const auto service = StartService(Spec({"--port={port}"}, {.quota = milliseconds(30),
                                                             .period = milliseconds(60),
                                                             .burst = milliseconds(10),
                                                             .cpuset = "0",
                                                             .memory = 64_MiB,
                                                             .memory_swap = 64_MiB}));
  const Snapshot snapshot = service->cgroup().Read();
  ASSERT_FALSE(snapshot.cpu.empty());
  EXPECT_EQ(snapshot.cpu[0].bandwidth,
            (CpuBandwidth{milliseconds(30), milliseconds(60), milliseconds(10)}));
  EXPECT_EQ(snapshot.cpuset, CpuSet({0}));
  EXPECT_EQ(snapshot.memory.limit, 64_MiB);
  EXPECT_EQ(service->Trouble(), "");
  EXPECT_TRUE(service->alive());
  EXPECT_THAT(service->launcher_version(), HasSubstr(LauncherName(GetParam())));
}

TEST_P(EngineLimits, NoneAskedForMeansNoQuotaInForce) {
  const auto service = StartService(Spec({"--port={port}"}));
  EXPECT_FALSE(service->cgroup().Read().EffectiveCpu().quota.has_value());
}

TEST_P(EngineLimits, AboveTheHostsCpusAreTaken) {
  // By quota and period the kernel takes them; only --cpus is checked against the host.
  const auto service = StartService(Spec({"--port={port}"}, {.cpus = 64}));
  EXPECT_EQ(service->cgroup().Read().cpu[0].bandwidth->quota, milliseconds(6400));
}

TEST_P(EngineLimits, C018ASpinningServiceIsThrottled) {
  ServiceSpec spec = Spec({"--print=up", "--burn=600000"}, {.cpus = 0.2});
  spec.ready = Wrote("up");
  const auto service = StartService(spec);
  const Snapshot before = service->cgroup().Read();
  std::this_thread::sleep_for(seconds(2));
  const CgroupDelta delta = Subtract(before, service->cgroup().Read());
  ASSERT_TRUE(delta.usage_cores.has_value()) << delta.usage_cores.reason();
  EXPECT_NEAR(delta.usage_cores.value(), 0.2, 0.05);
  EXPECT_GT(delta.throttle_ratio.value(), 0.5);
}

TEST_P(EngineLimits, CanBeChangedWhileTheServiceRuns) {
  const auto service =
      StartService(Spec({"--port={port}"}, {.cpus = 0.5, .memory = 64_MiB, .memory_swap = 64_MiB}));
  for (const Limits& limits : {Limits{.cpus = 2.0, .period = milliseconds(10)},
                               Limits{.quota = milliseconds(400),
                               .period = milliseconds(1000),
                               .burst = milliseconds(100),
                               .cpuset = "0"},
                               Limits{.cpus = 0.3, .memory = 128_MiB, .memory_swap = 256_MiB},
                               Limits{.memory = 32_MiB, .memory_swap = 32_MiB}, Limits{}}) {
    SCOPED_TRACE(ToString(limits));
    service->Update(limits);
    ExpectInForce(*service);
  }
  EXPECT_TRUE(service->alive());
}

TEST_P(EngineLimits, C053AQuotaThatVanishedIsFoundByReadingBack) {
  const auto service = StartService(Spec({"--port={port}"}, {.cpus = 0.5}));
  internal::WriteLimits(service->cgroup().location(), ResolvedLimits{});
  EXPECT_FALSE(CheckLimits(service->requested(), service->cgroup().Read()).ok());
}

TEST_P(EngineLimits, StartUnlimitedClampsOnceReady) {
  // 0.02 CPU would need 15 s for the 300 ms that the start burns.
  ServiceSpec spec = Spec({"--burn=300", "--port={port}"},
                          {.cpus = 0.02, .memory = 64_MiB, .memory_swap = 64_MiB});
  spec.start_unlimited = true;
  spec.ready = HttpReady("/").Within(seconds(10));
  const auto service = StartService(spec);
  ExpectInForce(*service);
  EXPECT_GE(service->cgroup().Read().usage.value_or(milliseconds(0)), milliseconds(290));
}

}  // namespace
}  // namespace throttletest::test
