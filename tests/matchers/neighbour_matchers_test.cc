#include "throttletest/gtest/neighbour_matchers.h"

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
using testing::HasSubstr;
using testing::Not;
using testing_support::FailuresOf;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

// Before at 30 ms, during at `slow`.
NeighbourComparison BesideNeighbour(std::chrono::nanoseconds slow, int count = 4) {
  NeighbourComparison c;
  for (int i = 0; i < count; ++i) {
    AddRound(c.rounds, kBeforeNeighbour, MeasurementBuilder().Build());
    AddRound(
        c.rounds, kDuringNeighbour,
        MeasurementBuilder().Responses(std::vector<std::chrono::nanoseconds>(100, slow)).Build());
    c.loads.push_back({.service = "heavy", .sent = 5, .ok = 5});
  }
  return c;
}

TEST(UndisturbedMatcher, MatchesAndDoesNot) {
  EXPECT_THAT(BesideNeighbour(30ms), Undisturbed());
  EXPECT_THAT(BesideNeighbour(32ms), Undisturbed({.figure = RunFigure::kP50}));
  EXPECT_THAT(BesideNeighbour(60ms), Not(Undisturbed()));
  EXPECT_THAT(BesideNeighbour(32ms),
              Not(Undisturbed({.figure = RunFigure::kP50, .tolerance = 0.01})));
}

TEST(UndisturbedMatcher, DescribesItselfAndItsNegation) {
  const auto describe = [](bool negation) {
    return testing::DescribeMatcher<const NeighbourComparison&>(Undisturbed(), negation);
  };
  EXPECT_EQ(describe(false),
            "is no slower during its neighbour's load than before (by P90, tolerance 10 %)");
  EXPECT_EQ(describe(true),
            "is slower during its neighbour's load than before (by P90, tolerance 10 %)");
}

TEST(UndisturbedMatcher, FailsWithRangesTestAndNeighbour) {
  const auto failures = FailuresOf([] { EXPECT_THAT(BesideNeighbour(60ms), Undisturbed()); });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_THAT(failures[0],
              AllOf(HasSubstr("\"during\" (cpus 2, period 100 ms), 4 rounds: P50 60.0 ms"),
                    HasSubstr("Mann-Whitney U test, exact, one-sided, p = 0.014"),
                    HasSubstr("Meanwhile its neighbour \"heavy\"")));
}

TEST(UndisturbedMatcher, NeverPassesWhatIsInconclusive) {
  NeighbourComparison died = BesideNeighbour(30ms);
  died.rounds.inconclusive = "round 2 of \"during\" was beside a neighbour that ended";
  for (const NeighbourComparison& c : {died, BesideNeighbour(60ms, 3), NeighbourComparison{}}) {
    EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(c, Undisturbed()); }).empty());
    const auto under_not = FailuresOf([&] { EXPECT_THAT(c, Not(Undisturbed())); });
    ASSERT_FALSE(under_not.empty());
    EXPECT_THAT(under_not[0], HasSubstr("INCONCLUSIVE"));
  }
}

}  // namespace
}  // namespace throttletest
