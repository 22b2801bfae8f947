#include "throttletest/cgroup/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "error_text.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using testing::HasSubstr;

const CpuSet kEight = CpuSet::Parse("0-7");

ResolvedLimits Resolve(const Limits& limits) { return ResolveLimits(limits, kEight); }

std::string Refused(const Limits& limits) {
  return ErrorText(ErrorCode::kInvalidArgument, [&] { Resolve(limits); });
}

microseconds QuotaOf(double cpus) { return *Resolve({.cpus = cpus}).cpu.quota; }

TEST(ResolveLimits, LeavesEverythingOpenByDefault) {
  const ResolvedLimits resolved = Resolve({});
  EXPECT_EQ(resolved, ResolvedLimits{});
  EXPECT_FALSE(resolved.cpu.limited());
  EXPECT_FALSE(resolved.cpu.cpus().has_value());
  EXPECT_EQ(resolved.cpu.period, 100ms);
}

TEST(ResolveLimits, C039C163C165KeepsFractionsOfCpus) {
  for (const double cpus : {0.25, 0.5, 1.25, 1.5, 2.999}) {
    EXPECT_DOUBLE_EQ(*Resolve({.cpus = cpus}).cpu.cpus(), cpus);
  }
}

TEST(ResolveLimits, C043RefusesQuotasBelowTheKernelsFloor) {
  EXPECT_THAT(Refused({.cpus = 0.005}), HasSubstr("cpus 0.005 is a quota of 500 us per 100000 us"));
  EXPECT_THAT(Refused({.cpus = 0.009}), HasSubstr("a quota of 900 us"));
  EXPECT_THAT(Refused({.cpus = 0.0099999}), HasSubstr("a quota of 999 us"));
  EXPECT_THAT(Refused({.cpus = 0.001}), HasSubstr("at least 0.01 CPUs with this period"));
  EXPECT_EQ(QuotaOf(0.01), 1000us);
  EXPECT_EQ(*Resolve({.cpus = 0.005, .period = 1s}).cpu.quota, 5000us);
}

TEST(ResolveLimits, C055TruncatesAsTheEnginesDo) {
  EXPECT_EQ(QuotaOf(0.257), 25700us);
  EXPECT_EQ(QuotaOf(0.2579999), 25799us);
  EXPECT_EQ(QuotaOf(0.015), 1500us);
  EXPECT_EQ(QuotaOf(1.0000001), 100000us);
  // Whole hundredths stay whole although most of them are no exact double.
  for (int cents = 1; cents <= 800; ++cents) EXPECT_EQ(QuotaOf(cents / 100.0), cents * 1000us);
}

TEST(ResolveLimits, C045ComputesTheQuotaForThePeriodAsked) {
  const ResolvedLimits resolved = Resolve({.cpus = 0.5, .period = 10ms});
  EXPECT_EQ(resolved.cpu.quota, 5000us);
  EXPECT_EQ(resolved.cpu.period, 10ms);
}

TEST(ResolveLimits, C029AsksWhetherMillisecondsWereMeant) {
  EXPECT_EQ(Refused({.quota = 50us, .period = 100us}),
            "period 100 us is below 1000 us; did you mean 100 ms?");
  EXPECT_EQ(Refused({.quota = 50us, .period = 100ms}),
            "quota 50 us is below 1000 us; did you mean 50 ms?");
}

TEST(ResolveLimits, SaysWhereAnImpossibleLimitIsDeclared) {
  Limits limits{.cpus = 0.001};
  limits.origins = {{"compose.yaml", 4, "services.web.cpus", "0.001"}};
  EXPECT_THAT(Refused(limits),
              testing::EndsWith(" (declared in compose.yaml:4: services.web.cpus: 0.001)"));
}

TEST(Limits, AreTheSameWhereverTheyAreDeclared) {
  Limits limits{.cpus = 0.5};
  limits.origins = {{"compose.yaml", 4, "services.web.cpus", "0.5"}};
  EXPECT_EQ(limits, (Limits{.cpus = 0.5}));
  EXPECT_NE(limits, (Limits{.cpus = 0.6}));
  EXPECT_NE(limits, (Limits{.cpus = 0.5, .memory_swap = ByteSize(1)}));
}

TEST(LimitOrigin, IsTextThatAnEditorCanFollow) {
  const LimitOrigin origin{"a/compose.yaml", 4, "services.web.cpus", "0.5"};
  EXPECT_EQ(ToString(origin), "a/compose.yaml:4: services.web.cpus: 0.5");
  EXPECT_EQ(ToString({origin, {"b.yaml", 9, "services.web.cpuset", "0-1"}}),
            "a/compose.yaml:4: services.web.cpus: 0.5; b.yaml:9: services.web.cpuset: 0-1");
  EXPECT_EQ(ToString(std::vector<LimitOrigin>{}), "");
}

TEST(ResolveLimits, AsksWhetherMiBWereMeantOnlyWhereTheyMayBe) {
  EXPECT_THAT(Refused({.memory = ByteSize(64)}), testing::EndsWith("; did you mean 64 MiB?"));
  EXPECT_THAT(Refused({.memory = 4_MiB}), testing::EndsWith("the container engines' floor"));
}

// An integer is no duration: a bare 10 has no unit to be wrong about.
TEST(ResolveLimits, C030DoesNotTakeBareIntegersForTimes) {
  static_assert(!std::is_convertible_v<int, decltype(Limits::period)>);
  static_assert(!std::is_convertible_v<int, decltype(Limits::quota)>);
  static_assert(!std::is_convertible_v<int, decltype(Limits::burst)>);
  static_assert(!std::is_convertible_v<int, decltype(Limits::memory)>);
  static_assert(std::is_convertible_v<decltype(10ms), decltype(Limits::period)>);
}

TEST(ResolveLimits, RefusesPeriodsOutsideTheKernelsRange) {
  EXPECT_THAT(Refused({.period = 2s}), HasSubstr("period 2000000 us (2 s) is above 1000000 us"));
  EXPECT_THAT(Refused({.period = 999us}), HasSubstr("below 1000 us"));
  EXPECT_EQ(Refused({.period = 0us}), "period 0 us is below 1000 us");
  EXPECT_EQ(Resolve({.period = 1s}).cpu.period, 1s);
  EXPECT_EQ(Resolve({.period = 1ms}).cpu.period, 1ms);
}

TEST(ResolveLimits, RefusesCpusThatAreNoNumberOfCpus) {
  EXPECT_THAT(Refused({.cpus = 0.0}), HasSubstr("cpus 0 is not a number of CPUs above 0"));
  EXPECT_THAT(Refused({.cpus = -1.0}), HasSubstr("cpus -1 "));
  EXPECT_THAT(Refused({.cpus = std::nan("")}), HasSubstr("cpus nan "));
  EXPECT_THAT(Refused({.cpus = INFINITY}), HasSubstr("cpus inf "));
  EXPECT_THAT(Refused({.cpus = 1e300}), HasSubstr("above the kernel's range"));
  EXPECT_THAT(Refused({.cpus = 1.8e8}), HasSubstr("above the kernel's range"));
}

TEST(ResolveLimits, AcceptsMoreCpusThanTheMachineHas) {
  EXPECT_EQ(*Resolve({.cpus = 64.0}).cpu.quota, 6400ms);
}

TEST(ResolveLimits, RefusesTwoWaysToSayTheSame) {
  EXPECT_EQ(Refused({.cpus = 0.5, .quota = 50ms}),
            "cpus 0.5 and quota 50 ms are two ways to say the same: set one of them");
}

TEST(ResolveLimits, RefusesQuotasAboveTheKernelsLargest) {
  EXPECT_THAT(Refused({.quota = microseconds(std::int64_t{1} << 44)}),
              HasSubstr("above the kernel's largest"));
  EXPECT_TRUE(Resolve({.quota = microseconds((std::int64_t{1} << 44) - 1)}).cpu.limited());
  EXPECT_THAT(Refused({.quota = -1us}), HasSubstr("quota -1 us is below 1000 us"));
}

TEST(ResolveLimits, C048TakesAPeriodWithoutAQuotaAsUnlimited) {
  const ResolvedLimits resolved = Resolve({.period = 50ms});
  EXPECT_FALSE(resolved.cpu.limited());
  EXPECT_EQ(resolved.cpu.period, 50ms);
}

TEST(ResolveLimits, BoundsTheBurstByTheQuota) {
  EXPECT_EQ(Resolve({.cpus = 0.13, .burst = 13ms}).cpu.burst, 13ms);
  EXPECT_EQ(Refused({.cpus = 0.13, .burst = 14ms}),
            "burst 14000 us is outside 0..13000 us: the kernel takes no more than the quota");
  EXPECT_THAT(Refused({.cpus = 0.13, .burst = -1us}), HasSubstr("burst -1 us is outside"));
  EXPECT_EQ(Refused({.burst = 10ms}), "burst 10 ms needs a quota: set cpus or quota as well");
  EXPECT_EQ(Resolve({.burst = 0us}).cpu.burst, 0us);
}

TEST(ResolveLimits, ChecksTheCpusetAgainstTheMachine) {
  EXPECT_EQ(Resolve({.cpuset = "0-3,7"}).cpuset, CpuSet({0, 1, 2, 3, 7}));
  EXPECT_EQ(Refused({.cpuset = "99"}),
            "cpuset \"99\" names CPUs this machine does not have: online are 0-7");
  EXPECT_THAT(Refused({.cpuset = "1--3"}), HasSubstr("\"1--3\""));
  EXPECT_EQ(Refused({.cpuset = " "}), "cpuset \" \" names no CPU");
}

TEST(ResolveLimits, RefusesMemoryBelowTheEnginesFloor) {
  EXPECT_EQ(Refused({.memory = ByteSize(64)}),
            "memory 64 bytes is below 6291456 (6 MiB), the container engines' floor; did you mean "
            "64 MiB?");
  EXPECT_THAT(Refused({.memory = ByteSize(0)}), HasSubstr("memory 0 bytes"));
  EXPECT_EQ(Resolve({.memory = 6_MiB}).memory, 6_MiB);
}

TEST(ResolveLimits, C108ReadsMemorySwapAsMemoryPlusSwap) {
  EXPECT_EQ(Resolve({.memory = 64_MiB, .memory_swap = 64_MiB}).memory_and_swap, 64_MiB);
  EXPECT_EQ(Resolve({.memory = 64_MiB, .memory_swap = 128_MiB}).memory_and_swap, 128_MiB);
  EXPECT_EQ(Resolve({.memory = 64_MiB, .memory_swap = ByteSize::Unlimited()}).memory_and_swap,
            std::nullopt);
  EXPECT_EQ(Resolve({.memory = 64_MiB}).memory_and_swap, 128_MiB);
  EXPECT_EQ(Refused({.memory = 64_MiB, .memory_swap = 32_MiB}),
            "memory_swap 32 MiB is below memory 64 MiB: it is memory plus swap, so equal to memory "
            "means no swap");
  EXPECT_EQ(Refused({.memory_swap = 64_MiB}),
            "memory_swap 64 MiB needs a memory limit: it is memory plus swap");
}

TEST(ResolveLimits, TakesUnlimitedMemoryAsNoLimit) {
  const ResolvedLimits resolved =
      Resolve({.memory = ByteSize::Unlimited(), .memory_swap = ByteSize::Unlimited()});
  EXPECT_EQ(resolved, ResolvedLimits{});
}

TEST(LimitsText, SaysWhatWasAsked) {
  EXPECT_EQ(ToString(Limits{}), "none");
  EXPECT_EQ(ToString(Limits{.cpus = 0.5, .memory = 64_MiB}),
            "cpus 0.5 (50 ms per 100 ms), memory 64 MiB");
  EXPECT_EQ(ToString(Limits{.quota = 50ms, .period = 100ms, .burst = 20ms, .cpuset = "0-1"}),
            "quota 50 ms per 100 ms, burst 20 ms, cpuset 0-1");
  EXPECT_EQ(ToString(Limits{.cpus = 0.257, .memory = 64_MiB, .memory_swap = 64_MiB}),
            "cpus 0.257 (25.7 ms per 100 ms), memory 64 MiB, memory plus swap 64 MiB");
  EXPECT_EQ(ToString(Limits{.period = 50ms}), "period 50 ms without a quota");
  EXPECT_EQ(ToString(Limits{.cpus = std::nan("")}), "cpus nan");
}

TEST(LimitsText, SaysWhatBecameOfIt) {
  EXPECT_EQ(ToString(ResolvedLimits{}), "none");
  EXPECT_EQ(ToString(Resolve({.cpus = 0.5, .cpuset = "1", .memory = 64_MiB})),
            "CPU 50 ms per 100 ms (0.5 CPUs), cpuset 1, memory 64 MiB, memory plus swap 128 MiB");
}

TEST(LimitsText, SaysWhatTheKernelHolds) {
  EXPECT_EQ(ToString(CpuBandwidth{}), "unlimited");
  EXPECT_EQ(ToString(CpuBandwidth{.quota = 50ms, .burst = 20ms}),
            "50 ms per 100 ms (0.5 CPUs), burst 20 ms");
  EXPECT_EQ(ToString(CpuBandwidth{.quota = 50ms, .period = 10ms}), "50 ms per 10 ms (5.0 CPUs)");
}

}  // namespace
}  // namespace throttletest
