#include "throttletest/gtest/compare_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/failures_of.h"
#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::FailuresOf;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

// Rounds of "two" CPUs at 30 ms and of "half" a CPU at `slow`.
Rounds TwoAndHalf(std::chrono::nanoseconds slow, int count = 4) {
  Rounds rounds;
  for (int i = 0; i < count; ++i) {
    AddRound(rounds, "two", MeasurementBuilder().Build());
    AddRound(rounds, "half",
             MeasurementBuilder()
                 .Quota(50ms)
                 .Responses(std::vector<std::chrono::nanoseconds>(100, slow))
                 .Build());
  }
  return rounds;
}

TEST(NoSlowerMatcher, MatchesAndDoesNot) {
  EXPECT_THAT(TwoAndHalf(30ms), NoSlower("half", "two"));
  EXPECT_THAT(TwoAndHalf(300ms), Not(NoSlower("half", "two")));
  EXPECT_THAT(TwoAndHalf(300ms), NoSlower("two", "half"));
  EXPECT_THAT(TwoAndHalf(32ms), NoSlower("half", "two", {.figure = RunFigure::kP50}));
  EXPECT_THAT(TwoAndHalf(32ms), Not(NoSlower("half", "two", {.tolerance = 0.01})));
}

TEST(NoSlowerMatcher, DescribesItselfAndItsNegation) {
  EXPECT_EQ(testing::DescribeMatcher<const Rounds&>(NoSlower("a", "b")),
            "has \"a\" no slower than \"b\" (by P99, tolerance 10 %)");
  EXPECT_EQ(testing::DescribeMatcher<const Rounds&>(NoSlower("a", "b"), true),
            "has \"a\" slower than \"b\" (by P99, tolerance 10 %)");
}

TEST(NoSlowerMatcher, FailsWithRangesTestAndLimits) {
  const auto failures = FailuresOf([] { EXPECT_THAT(TwoAndHalf(300ms), NoSlower("half", "two")); });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_THAT(failures[0],
              AllOf(HasSubstr("\"half\" (cpus 0.5, period 100 ms), 4 rounds: P50 300.0 ms"),
                    HasSubstr("Mann-Whitney U test, exact, one-sided, p = 0.014"),
                    HasSubstr("cpus 2 -> 0.5")));
}

class NoSlowerNeverPasses : public testing::TestWithParam<std::pair<const char*, Rounds>> {
 protected:
  static const Rounds& rounds() { return GetParam().second; }
};

TEST_P(NoSlowerNeverPasses, UnderAnyCombination) {
  const auto matcher = NoSlower("half", "two");
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(rounds(), matcher); }).empty());
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(rounds(), AnyOf(matcher, testing::_)); }).empty());
  EXPECT_FALSE(FailuresOf([&] { EXPECT_FALSE(testing::Value(rounds(), matcher)); }).empty());
  const auto under_not = FailuresOf([&] { EXPECT_THAT(rounds(), Not(matcher)); });
  ASSERT_FALSE(under_not.empty());
  EXPECT_THAT(under_not[0], HasSubstr("INCONCLUSIVE"));
}

Rounds WithUntrusted() {
  Rounds rounds = TwoAndHalf(30ms);
  rounds.inconclusive = "round 2 of \"half\" cannot be trusted: start lag";
  return rounds;
}

INSTANTIATE_TEST_SUITE_P(Matchers, NoSlowerNeverPasses,
                         testing::Values(std::pair("TooFew", TwoAndHalf(300ms, 3)),
                                         std::pair("Untrusted", WithUntrusted()),
                                         std::pair("Empty", Rounds{})),
                         [](const auto& test) { return std::string(test.param.first); });

}  // namespace
}  // namespace throttletest
