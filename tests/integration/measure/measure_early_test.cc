// Measurements that end once their budgets are decided, on a real service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure_fixture.h"
#include "throttletest/measure/budget.h"

namespace throttletest::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const LoadPlan kMinute = Batches(8).Every(500ms).For(60s).WarmUp(500ms);

MeasureOptions Until(MeasureOptions options, const std::vector<Budget>& budgets) {
  options.until_decided = UntilDecided{.budgets = budgets};
  return options;
}

TEST_F(MeasureServiceTest, AMissedBudgetIsDecidedWithinSeconds) {
  const auto service = Start({.cpus = 0.5});
  const Budget ratio = ParseBudget("throttle_ratio<0.05");
  const Budget p99 = ParseBudget("p99<100ms");
  const Measurement m =
      MeasureService(*service, kMinute, Get("/burn?ms=20"), Until(Patient(), {ratio, p99}));
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  ASSERT_TRUE(m.early.has_value());
  EXPECT_TRUE(m.early->ended_early);
  EXPECT_THAT(m.notes, Contains(HasSubstr("moved by up to one period")));
  EXPECT_EQ(m.load.planned, m.load.ok);
  EXPECT_LT(m.load.planned, 240);
  EXPECT_EQ(ratio.Evaluate(m).verdict, Verdict::kMissed);
  // Far fewer than the 100 requests a P99 needs otherwise: the decision does without them.
  EXPECT_EQ(p99.Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_THAT(p99.Evaluate(m).explanation, HasSubstr("decided after "));
}

TEST_F(MeasureServiceTest, WhatCannotBeDecidedEarlyRunsToThePlansEnd) {
  const auto service = Start({.cpus = 2});
  const Budget p99 = ParseBudget("p99<10s");
  const Measurement m =
      MeasureService(*service, kMinute.For(4s), Get("/burn?ms=1"), Until(Patient(), {p99}));
  ASSERT_TRUE(m.early.has_value());
  EXPECT_FALSE(m.early->ended_early);
  EXPECT_EQ(m.load.planned, 64);
  // By the rules of a plan that was run whole: 64 requests are too few.
  EXPECT_EQ(p99.Evaluate(m).verdict, Verdict::kInconclusive);
}

}  // namespace
}  // namespace throttletest::test
