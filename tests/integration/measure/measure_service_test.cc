// Measuring a real service under real quotas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "measure_fixture.h"
#include "throttletest/measure/budget.h"

namespace throttletest::test {
namespace {

using ::testing::HasSubstr;

// What `cat` shows, read by other means than the engine's.
struct Counters {
  std::int64_t periods = 0;
  std::int64_t throttled = 0;
  std::int64_t throttled_ns = 0;
};

Counters Cat(const Service& service) {
  const ControllerLocation& cpu = service.cgroup().location().cpu.value();
  std::ifstream file(cpu.directory() + "/cpu.stat");
  std::map<std::string, std::int64_t> values;
  std::string key;
  for (std::int64_t value = 0; file >> key >> value;) values[key] = value;
  const bool v2 = cpu.version == CgroupVersion::kV2;
  return {values.at("nr_periods"), values.at("nr_throttled"),
          v2 ? values.at("throttled_usec") * 1000 : values.at("throttled_time")};
}

TEST_F(MeasureServiceTest, ABurstIsThrottledTheMoreTheSmallerTheQuota) {
  const auto half_service = Start({.cpus = 0.5});
  const Measurement half = Bursts(*half_service);
  half_service->Stop();
  const auto one_service = Start({.cpus = 1.0});
  const Measurement one = Bursts(*one_service);
  ASSERT_TRUE(half.validity.trusted()) << half.validity.ToString();
  ASSERT_TRUE(one.validity.trusted()) << one.validity.ToString();
  EXPECT_GT(half.cgroup.throttle_ratio.value(), 0.30);
  EXPECT_LT(half.cgroup.throttle_ratio.value(), 0.85);
  EXPECT_LT(one.cgroup.throttle_ratio.value(), half.cgroup.throttle_ratio.value());
  EXPECT_EQ(half.load.ok, 48);
  // Work, not time: both quotas see the same demand.
  const auto cpu = half.MedianBatchCpu();
  ASSERT_TRUE(cpu.has_value()) << cpu.reason();
  EXPECT_GT(cpu.value(), 80ms);
  EXPECT_LT(cpu.value(), 400ms);
  EXPECT_GE(half.ThrottledBursts().value(), 4);
  const BudgetResult ratio = ParseBudget("throttle_ratio<0.05").Evaluate(half);
  EXPECT_EQ(ratio.verdict, Verdict::kMissed);
  EXPECT_THAT(ratio.explanation, HasSubstr("cpus >= "));
  EXPECT_EQ(ParseBudget("max<20ms").Evaluate(half).verdict, Verdict::kMissed);
}

TEST_F(MeasureServiceTest, DeltasEqualAnIndependentReadersWithinOnePeriod) {
  const auto service = Start({.cpus = 0.5});
  std::this_thread::sleep_for(300ms);  // what readiness checks were throttled for is booked
  const Counters before = Cat(*service);
  const Measurement m = MeasureService(*service, Batches(8).Every(1s).For(3s).WarmUp(0s),
                                       Get("/burn?ms=20"), Patient());
  const Counters after = Cat(*service);
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_NEAR(static_cast<double>(m.cgroup.periods.value()),
              static_cast<double>(after.periods - before.periods), 1);
  EXPECT_NEAR(static_cast<double>(m.cgroup.throttled_periods.value()),
              static_cast<double>(after.throttled - before.throttled), 1);
  EXPECT_NEAR(static_cast<double>(m.cgroup.throttled_time.value().count()),
              static_cast<double>(after.throttled_ns - before.throttled_ns), 200e6);
}

TEST_F(MeasureServiceTest, WarmUpIsInNoFigure) {
  const auto service = Start({.cpus = 0.5});
  const Measurement m = MeasureService(*service, Batches(1).Every(200ms).For(1s).WarmUp(2s),
                                       Get("/burn?ms=1"), Patient());
  EXPECT_EQ(m.load.planned, 5);
  EXPECT_LT(m.cgroup.wall, 2s);
}

TEST_F(MeasureServiceTest, WithoutAQuotaTheRatioIsNotAvailable) {
  const auto service = Start({});
  const Measurement m = MeasureService(*service, Batches(8).Every(500ms).For(1s).WarmUp(0s),
                                       Get("/burn?ms=5"), Patient());
  EXPECT_EQ(m.cgroup.throttle_ratio.kind(), OutcomeKind::kNotAvailable);
  EXPECT_GT(m.cgroup.usage.value(), 10ms);
  const BudgetResult r = ParseBudget("throttle_ratio<0.9").Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation, HasSubstr("no CPU quota in force"));
}

TEST_F(MeasureServiceTest, AnIdleServiceIsInconclusive) {
  const auto service = Start({.cpus = 0.5});
  const Measurement m =
      MeasureService(*service, Batches(1).Every(2s).For(2s).WarmUp(0s), Get("/healthz"), Patient());
  EXPECT_EQ(ParseBudget("throttle_ratio<0.9").Evaluate(m).verdict, Verdict::kInconclusive);
}

TEST_F(MeasureServiceTest, TellsWhereItIs) {
  const auto service = Start({});
  MeasureOptions options = Patient();
  std::set<std::string> phases;
  options.progress = [&](const MeasureProgress& p) { phases.insert(p.phase); };
  const Measurement m = MeasureService(*service, Batches(1).Every(100ms).For(500ms).WarmUp(500ms),
                                       Get("/burn?ms=1"), options);
  EXPECT_EQ(phases, (std::set<std::string>{"warm-up", "load", "drain"}));
  EXPECT_EQ(m.launcher, "cgroup");
  EXPECT_EQ(m.request, "GET /burn?ms=1");
  EXPECT_NE(m.environment.kernel, "");
}

}  // namespace
}  // namespace throttletest::test
