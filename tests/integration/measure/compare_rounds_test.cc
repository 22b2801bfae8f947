// Comparing limits of a real service, changed while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "measure_fixture.h"
#include "throttletest/measure/compare.h"

namespace throttletest::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CompareRoundsTest : public MeasureServiceTest {};

TEST_F(CompareRoundsTest, TakesTurnsAndTellsAFifthOfACpuFromAWholeOne) {
  const auto service = Start({.cpus = 1.5});
  std::vector<std::string> order;
  CompareOptions options{.measure = Patient()};
  options.on_round = [&](const std::string& setting, int round, const Measurement& m) {
    if (round <= 2) order.push_back(setting + std::to_string(round));
    EXPECT_EQ(m.requested.cpu.quota, setting == "fifth" ? 20ms : 100ms);
  };
  const Rounds rounds =
      CompareRounds(*service, {{"whole", {.cpus = 1.0}}, {"fifth", {.cpus = 0.2}}},
                    Batches(8).Every(400ms).For(1200ms).WarmUp(0s), Get("/burn?ms=7"), options);
  ASSERT_TRUE(rounds.inconclusive.empty()) << rounds.inconclusive;
  EXPECT_THAT(order, ElementsAre("whole1", "fifth1", "whole2", "fifth2"));
  EXPECT_EQ(service->spec().limits.cpus, 1.5);

  const NoSlowerBound bound{.figure = RunFigure::kP50};
  const BudgetResult slower = JudgeNoSlower(rounds, "fifth", "whole", bound);
  EXPECT_EQ(slower.verdict, Verdict::kMissed) << slower.explanation;
  EXPECT_THAT(slower.explanation, HasSubstr("cpus 1 -> 0.2"));
  EXPECT_EQ(JudgeNoSlower(rounds, "whole", "fifth", bound).verdict, Verdict::kMet);
}

TEST_F(CompareRoundsTest, StopsAtARoundThatCannotBeTrusted) {
  const auto service = Start({.cpus = 1.5});
  CompareOptions options{.measure = {.bounds = {.start_lag_p99 = 0ns}, .retries = 0}};
  int count = 0;
  options.on_round = [&](const std::string&, int, const Measurement&) { ++count; };
  const Rounds rounds =
      CompareRounds(*service, {{"a", {.cpus = 1.0}}, {"b", {.cpus = 0.5}}},
                    Batches(2).Every(200ms).For(1s).WarmUp(0s), Get("/healthz"), options);
  EXPECT_EQ(count, 1);
  EXPECT_THAT(rounds.inconclusive, HasSubstr("round 1 of \"a\" cannot be trusted: start lag"));
  EXPECT_EQ(service->spec().limits.cpus, 1.5);
}

}  // namespace
}  // namespace throttletest::test
