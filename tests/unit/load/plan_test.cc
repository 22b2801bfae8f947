#include "throttletest/load/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "throttletest/base/error.h"
#include "throttletest/load/traffic.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Plan, C128CountsTheRequestsThatStartBeforeTheEnd) {
  EXPECT_EQ(ConstantRate(10_rps).For(1s).measured().request_count(), 10);
  EXPECT_EQ(ConstantRate(3_rps).For(10s).measured().request_count(), 30);
  EXPECT_EQ(ConstantRate(7_rps).For(1500ms).measured().request_count(), 11);
}

TEST(Plan, ABatchAtTheVeryEndDoesNotExist) {
  EXPECT_EQ(Batches(8).Every(1s).For(20s).measured().batch_count(), 20);
  EXPECT_EQ(Batches(8).Every(1s).For(20s + 1ns).measured().batch_count(), 21);
  EXPECT_EQ(Batches(8).Every(1s).For(20s).measured().request_count(), 160);
  EXPECT_EQ(Batches(1).Every(1s).For(1ns).measured().request_count(), 1);
}

TEST(Plan, StartsDoNotDrift) {
  const Schedule thirds = ConstantRate(3_rps).For(1000000s).measured();
  EXPECT_EQ(thirds.StartOf(0), 0ns);
  EXPECT_EQ(thirds.StartOf(1), 333333333ns);
  EXPECT_EQ(thirds.StartOf(2), 666666667ns);
  EXPECT_EQ(thirds.StartOf(3), 1s);
  EXPECT_EQ(thirds.StartOf(2999997), 999999s);
}

TEST(Plan, RatesAreExactToAMillionth) {
  EXPECT_EQ(ConstantRate(0.5_rps).For(20s).measured().StartOf(3), 6s);
  EXPECT_EQ(ConstantRate(2.5_rps).For(20s).measured().StartOf(5), 2s);
  EXPECT_EQ(ConstantRate(1000000_rps).For(1s).measured().StartOf(999999), 999999us);
}

TEST(Plan, ALongScheduleDoesNotOverflow) {
  const Schedule year = ConstantRate(0.025_rps).For(std::chrono::hours(24 * 365)).measured();
  EXPECT_EQ(year.batch_count(), 788'400);
  EXPECT_EQ(year.StartOf(788'399), 31'535'960s);
  // Far more than 64 bits hold.
  EXPECT_THROW(Schedule(1, 1000003, 100s, 86400s * 365), Error);
}

TEST(Plan, WarmUpHasTheSameArrivals) {
  const LoadPlan plan = Batches(4).Every(500ms).For(10s).WarmUp(2s);
  EXPECT_TRUE(plan.has_warm_up());
  EXPECT_EQ(plan.warm_up().request_count(), 16);
  EXPECT_EQ(plan.warm_up().StartOf(1), plan.measured().StartOf(1));
  EXPECT_FALSE(plan.WarmUp(0s).has_warm_up());
  EXPECT_EQ(plan.WarmUp(0s).warm_up().request_count(), 0);
}

TEST(Plan, SettersLeaveTheOriginalAlone) {
  const LoadPlan plan = Batches(8);
  const LoadPlan longer = plan.For(30s);
  EXPECT_EQ(plan.measured().batch_count(), 20);
  EXPECT_EQ(longer.measured().batch_count(), 30);
  EXPECT_EQ(plan.max_in_flight(), 4096);
  EXPECT_EQ(plan.MaxInFlight(16).max_in_flight(), 16);
}

TEST(Plan, SaysItselfInWords) {
  EXPECT_EQ(Batches(8).Every(1s).For(20s).WarmUp(3s).ToString(),
            "8 requests every 1 s for 20 s after 3 s of warm-up");
  EXPECT_EQ(Batches(1).Every(250ms).For(20s).WarmUp(0s).ToString(),
            "1 request every 250 ms for 20 s");
  EXPECT_EQ(ConstantRate(0.5_rps).For(20s).WarmUp(0s).ToString(),
            "0.5 requests per second for 20 s");
}

TEST(Plan, PhasesFollowOneAnother) {
  const LoadPlan plan =
      Ramp(10_rps, 20_rps).For(1s).Then(Batches(4).Every(500ms).For(1s)).WarmUp(2s);
  const Schedule measured = plan.measured();
  EXPECT_EQ(measured.request_count(), 15 + 8);
  EXPECT_EQ(measured.StartOf(15), 1s);
  EXPECT_EQ(measured.batches()[16], (Schedule::Batch{1500ms, 4}));
  EXPECT_EQ(plan.warm_up().request_count(), 30) << "the first phase, stretched to the warm-up";
  EXPECT_EQ(
      plan.ToString(),
      "10 to 20 requests per second for 1 s, then 4 requests every 500 ms for 1 s after 2 s of "
      "warm-up");
}

TEST(Plan, LengthIsThatOfAllPhasesWithoutTheWarmUp) {
  EXPECT_EQ(Batches(1).For(2s).WarmUp(1s).length(), 2s);
  EXPECT_EQ(Batches(1).For(2s).Then(ConstantRate(5_rps).For(3s)).length(), 5s);
}

TEST(Plan, StepsAreRatesOneAfterTheOther) {
  const Schedule schedule = Steps({{10_rps, 1s}, {20_rps, 500ms}, {40_rps, 1s}}).measured();
  EXPECT_EQ(schedule.request_count(), 10 + 10 + 40);
  EXPECT_EQ(schedule.StartOf(10), 1s);
  EXPECT_EQ(schedule.StartOf(20), 1500ms);
}

TEST(Plan, PoissonSaysItsSeed) {
  EXPECT_EQ(Poisson(100_rps, 42).For(10s).WarmUp(0s).ToString(),
            "100 requests per second at random (Poisson, seed 42) for 10 s");
  EXPECT_EQ(Poisson(100_rps, 42).For(10s).measured().batches(),
            Poisson(100_rps, 42).For(10s).measured().batches());
}

TEST(Plan, RefusesPhasesThatWouldLoseASetting) {
  EXPECT_THAT([] { Batches(1).Then(Batches(1).WarmUp(1s)); },
              ThrowsMessage<Error>(HasSubstr("WarmUp() of a later phase")));
  EXPECT_THAT([] { Batches(1).Then(Batches(1).MaxInFlight(1)); },
              ThrowsMessage<Error>(HasSubstr("MaxInFlight()")));
  EXPECT_THROW(Steps({}), Error);
  EXPECT_THROW(Ramp(0_rps, 0_rps), Error);
  EXPECT_THROW(Ramp(Rate(-1), 10_rps), Error);
  EXPECT_THAT([] { (void)Poisson(0.001_rps, 1).For(1ms).measured(); },
              ThrowsMessage<Error>(HasSubstr("no request")));
}

TEST(Plan, RefusesWhatCannotBe) {
  EXPECT_THAT([] { Batches(0); }, ThrowsMessage<Error>(HasSubstr("batch size 0")));
  EXPECT_THAT([] { Batches(10001); }, ThrowsMessage<Error>(HasSubstr("1..10000")));
  EXPECT_THAT([] { Batches(1).Every(0s); }, ThrowsMessage<Error>(HasSubstr("interval 0")));
  EXPECT_THAT([] { Batches(1).For(0s); }, ThrowsMessage<Error>(HasSubstr("load duration 0")));
  EXPECT_THAT([] { Batches(1).WarmUp(-1s); }, ThrowsMessage<Error>(HasSubstr("warm-up")));
  EXPECT_THAT([] { Batches(1).MaxInFlight(0); }, ThrowsMessage<Error>(HasSubstr("in-flight")));
  EXPECT_THAT([] { Batches(1).MaxInFlight(60001); }, ThrowsMessage<Error>(HasSubstr("60000")));
  EXPECT_THAT([] { ConstantRate(1_rps).Every(1s); }, ThrowsMessage<Error>(HasSubstr("Every()")));
}

TEST(Plan, RefusesRatesOutOfRange) {
  for (const double rate : {0.0, -1.0, 1e-7, 1e6 + 1, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(ConstantRate(Rate(rate)), Error) << rate;
  }
}

TEST(Plan, RefusesMoreThanTwentyMillionRequests) {
  EXPECT_THAT([] { (void)ConstantRate(1000000_rps).For(21s).measured(); },
              ThrowsMessage<Error>(HasSubstr("21 s of load have more than 20000000 requests")));
  EXPECT_THAT([] { (void)Batches(10000).Every(1us).WarmUp(1s).warm_up(); },
              ThrowsMessage<Error>(HasSubstr("warm-up: 1 s of load")));
  EXPECT_EQ(ConstantRate(1000000_rps).For(20s).measured().request_count(), 20'000'000);
}

TEST(ScheduleArguments, AreChecked) {
  EXPECT_THROW(Schedule(0, 1, 1s, 1s), Error);
  EXPECT_THROW(Schedule(1, 0, 1s, 1s), Error);
  EXPECT_THROW(Schedule(1, 1, 0s, 1s), Error);
  EXPECT_THROW(Schedule(1, 1, 1s, -1s), Error);
}

TEST(LoadPlan, IsSteadyWhenItsBeginningStandsForAllOfIt) {
  EXPECT_TRUE(Batches(8).Every(1s).For(5s).is_steady());
  EXPECT_TRUE(Poisson(Rate(5), 1).is_steady());
  EXPECT_FALSE(Ramp(Rate(1), Rate(5)).is_steady());
  EXPECT_FALSE(Batches(8).Then(Batches(16)).is_steady());
  EXPECT_FALSE(Traffic(Batches(8), Get("/a")).And(Batches(1), Get("/b")).is_steady());
  EXPECT_TRUE(Traffic(Batches(8), Get("/a")).is_steady());
}

}  // namespace
}  // namespace throttletest
