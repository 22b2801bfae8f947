#include "throttletest/measure/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

using Milliseconds = std::vector<double>;

ResolvedLimits Cpus(int percent) {
  ResolvedLimits limits;
  limits.cpu.quota = percent * 1ms;
  return limits;
}

SettingRounds P99s(const std::string& name, const Milliseconds& values, int cpu_percent = 200) {
  SettingRounds setting{.name = name, .limits = Cpus(cpu_percent)};
  for (const double value : values) {
    RunFigures figures;
    figures.at(RunFigure::kP99) = Outcome<double>::Value(value);
    setting.rounds.push_back(figures);
  }
  return setting;
}

Rounds OldAndNew(const Milliseconds& old_values, const Milliseconds& new_values) {
  return {.settings = {P99s("old", old_values, 200), P99s("new", new_values, 50)}};
}

BudgetResult Judge(const Milliseconds& old_values, const Milliseconds& new_values,
                   const NoSlowerBound& bound = {}) {
  return JudgeNoSlower(OldAndNew(old_values, new_values), "new", "old", bound);
}

TEST(Rounds, JoinsMeasurementsBySetting) {
  Rounds rounds;
  AddRound(rounds, "a", MeasurementBuilder().Quota(200ms).Build());
  AddRound(rounds, "b", MeasurementBuilder().Quota(50ms).Build());
  AddRound(rounds, "a", MeasurementBuilder().Quota(200ms).Throttled(200, 50, 1s).Build());
  ASSERT_EQ(rounds.settings.size(), 2U);
  EXPECT_EQ(rounds.settings[0].name, "a");
  EXPECT_EQ(rounds.settings[0].rounds.size(), 2U);
  EXPECT_EQ(rounds.Find("b")->limits.cpu.quota, 50ms);
  EXPECT_EQ(rounds.Find("c"), nullptr);
  const auto range = RangeOf(rounds.settings[0], RunFigure::kThrottleRatio);
  EXPECT_EQ(range.value().least, 0);
  EXPECT_EQ(range.value().most, 0.25);
  EXPECT_TRUE(rounds.inconclusive.empty());
}

TEST(Rounds, OneUntrustedRoundMakesAllInconclusive) {
  Rounds rounds;
  AddRound(rounds, "a", MeasurementBuilder().Build());
  Measurement late = MeasurementBuilder().Build();
  late.validity.faults.push_back({ValidityGate::kStartLag, "start lag P99 41.0 ms is above 25 ms"});
  AddRound(rounds, "a", late);
  EXPECT_THAT(rounds.inconclusive, AllOf(HasSubstr("round 2 of \"a\""), HasSubstr("41.0 ms")));
  EXPECT_EQ(rounds.settings[0].rounds.size(), 1U);
  EXPECT_THAT(rounds.ToString(), HasSubstr("INCONCLUSIVE"));
  EXPECT_FALSE(TestDifference(rounds, "a", "a", RunFigure::kP50).has_value());
  EXPECT_EQ(JudgeNoSlower(rounds, "a", "a").verdict, Verdict::kInconclusive);
}

TEST(Rounds, PrintsRangesAndLimits) {
  EXPECT_THAT(OldAndNew({41, 45, 43, 44}, {300, 310, 305, 307}).ToString(),
              AllOf(HasSubstr("\"old\" (cpus 2, period 100 ms), 4 rounds: P99 41.0-45.0 ms"),
                    HasSubstr("\"new\" (cpus 0.5, period 100 ms), 4 rounds: P99 300.0-310.0 ms")));
}

TEST(RangeOf, IsInconclusiveWhenARoundLacksTheFigure) {
  SettingRounds setting = P99s("a", {30, 31});
  setting.rounds[1].at(RunFigure::kP99) = Outcome<double>::Inconclusive("P99 needs n >= 100");
  const auto range = RangeOf(setting, RunFigure::kP99);
  EXPECT_EQ(range.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(range.reason(), AllOf(HasSubstr("round 2"), HasSubstr("n >= 100")));
  EXPECT_FALSE(RangeOf(SettingRounds{.name = "b"}, RunFigure::kP99).has_value());
}

TEST(TestDifference, NamesTheTestAndTheInterval) {
  const Difference d = TestDifference(OldAndNew({41, 45, 43, 44}, {300, 310, 305, 307}), "old",
                                      "new", RunFigure::kP99)
                           .value();
  EXPECT_EQ(d.test, "Mann-Whitney U test, exact, two-sided");
  EXPECT_EQ(d.u, 0);
  EXPECT_NEAR(d.p, 2.0 / 70, 1e-12);
  EXPECT_TRUE(d.significant);
  EXPECT_EQ(d.low, 255);
  EXPECT_EQ(d.high, 269);
  EXPECT_NEAR(d.shift, 262, 1);
  EXPECT_THAT(d.text,
              AllOf(HasSubstr("they differ"), HasSubstr("Mann-Whitney U test, exact"),
                    HasSubstr("p = 0.029"), HasSubstr("97 % interval"), HasSubstr("41.0-45.0 ms"),
                    HasSubstr("300.0-310.0 ms"), HasSubstr("cpus 2 -> 0.5")));
}

TEST(TestDifference, SaysWhenSoFewRoundsShowNothing) {
  const Difference d =
      TestDifference(OldAndNew({41, 45, 43}, {300, 310, 305}), "old", "new", RunFigure::kP99)
          .value();
  EXPECT_FALSE(d.significant);
  EXPECT_THAT(d.text, AllOf(HasSubstr("no difference can be shown"), HasSubstr("cannot reach"),
                            HasSubstr("it takes 4 rounds of each")));
}

TEST(TestDifference, ShowsNoneWhereThereIsNone) {
  const Difference d =
      TestDifference(OldAndNew({41, 43, 45, 47}, {42, 44, 46, 40}), "old", "new", RunFigure::kP99)
          .value();
  EXPECT_FALSE(d.significant);
  EXPECT_THAT(d.text, HasSubstr("no difference is shown"));
}

TEST(TestDifference, IsInconclusiveWithoutTheSetting) {
  const auto d = TestDifference(OldAndNew({1}, {2}), "old", "newer", RunFigure::kP99);
  EXPECT_EQ(d.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(d.reason(), AllOf(HasSubstr("\"newer\""), HasSubstr("\"old\", \"new\"")));
}

TEST(NoSlower, IsMetWithinTheTolerance) {
  const BudgetResult result = Judge({100, 101, 102, 103}, {104, 103, 105, 106});
  EXPECT_EQ(result.verdict, Verdict::kMet) << result.explanation;
  EXPECT_THAT(result.explanation, HasSubstr("is no more than 10 % above"));
}

TEST(NoSlower, IsMissedAboveTheTolerance) {
  const BudgetResult result = Judge({100, 101, 102, 103}, {120, 121, 122, 123});
  EXPECT_EQ(result.verdict, Verdict::kMissed);
  EXPECT_THAT(result.explanation,
              AllOf(HasSubstr("P99 of \"new\" 120.0-123.0 ms (4 rounds) is more than 10 % above"),
                    HasSubstr("\"old\" 100.0-103.0 ms (4 rounds)"),
                    HasSubstr("Mann-Whitney U test, exact, one-sided"), HasSubstr("p = 0.014"),
                    HasSubstr("Limits from \"old\" to \"new\": cpus 2 -> 0.5.")));
}

TEST(NoSlower, FollowsTheToleranceGiven) {
  EXPECT_EQ(Judge({100, 101, 102, 103}, {120, 121, 122, 123}, {.tolerance = 0.25}).verdict,
            Verdict::kMet);
  EXPECT_EQ(Judge({100, 101, 102, 103}, {104, 105, 106, 107}, {.tolerance = 0}).verdict,
            Verdict::kMissed);
}

TEST(NoSlower, IsInconclusiveWhereNoiseHidesIt) {
  const BudgetResult result = Judge({80, 100, 120, 140}, {90, 110, 130, 150});
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.explanation, AllOf(HasSubstr("neither"), HasSubstr("More rounds")));
}

// However clear it looks: three against three is one chance in twenty.
TEST(NoSlower, IsInconclusiveWithThreeRounds) {
  for (const Milliseconds& values : {Milliseconds{10, 11, 12}, Milliseconds{900, 901, 902}}) {
    const BudgetResult result = Judge({100, 101, 102}, values);
    EXPECT_EQ(result.verdict, Verdict::kInconclusive);
    EXPECT_THAT(result.explanation,
                AllOf(HasSubstr("3 rounds against 3 cannot reach p < 0.05"),
                      HasSubstr("one-sided p is 0.05"), HasSubstr("4 rounds of each")));
  }
}

TEST(NoSlower, NoAnswerIsSlower) {
  const double never = std::numeric_limits<double>::infinity();
  const BudgetResult result = Judge({100, 101, 102, 103}, {never, never, never, never});
  EXPECT_EQ(result.verdict, Verdict::kMissed);
  EXPECT_THAT(result.explanation, HasSubstr("no answer"));
  EXPECT_EQ(Judge(Milliseconds(4, never), Milliseconds(4, never)).verdict, Verdict::kInconclusive);
}

TEST(NoSlower, AllowsTwoServicesThatNeverThrottle) {
  Rounds rounds;
  for (int i = 0; i < 4; ++i) {
    AddRound(rounds, "a", MeasurementBuilder().Build());
    AddRound(rounds, "b", MeasurementBuilder().Build());
  }
  EXPECT_EQ(JudgeNoSlower(rounds, "a", "b", {.figure = RunFigure::kThrottleRatio}).verdict,
            Verdict::kMet);
}

TEST(NoSlower, IsInconclusiveWithoutTheFigureOrTheSetting) {
  Rounds rounds;
  for (int i = 0; i < 4; ++i) {
    AddRound(rounds, "a", MeasurementBuilder().NoQuota().Build());
    AddRound(rounds, "b", MeasurementBuilder().Build());
  }
  const auto ratio = JudgeNoSlower(rounds, "a", "b", {.figure = RunFigure::kThrottleRatio});
  EXPECT_EQ(ratio.verdict, Verdict::kInconclusive);
  EXPECT_THAT(ratio.explanation, HasSubstr("no CPU quota"));
  EXPECT_EQ(JudgeNoSlower(rounds, "a", "c").verdict, Verdict::kInconclusive);
  EXPECT_EQ(JudgeNoSlower({}, "a", "b").verdict, Verdict::kInconclusive);
}

TEST(NoSlower, RefusesABadBound) {
  const auto rounds = OldAndNew({1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_THAT(JudgeNoSlower(rounds, "new", "old", {.tolerance = -0.1}).explanation,
              HasSubstr("-0.1"));
  EXPECT_THAT(JudgeNoSlower(rounds, "new", "old", {.alpha = 1}).explanation, HasSubstr("alpha"));
  EXPECT_EQ(JudgeNoSlower(rounds, "new", "old", {.alpha = 1}).verdict, Verdict::kInconclusive);
}

}  // namespace
}  // namespace throttletest
