#include "measure/rank_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two samples of n and m without ties whose first one has this U.
std::pair<Values, Values> SamplesWithU(int n, int m, int u) {
  Values a(static_cast<std::size_t>(n));
  for (std::size_t i = a.size(); i-- > 0;) {
    // The highest values of a are moved up past as many of b as it takes.
    const int passed = std::min(u, m);
    u -= passed;
    a[i] = passed + 0.01 * static_cast<double>(i + 1);
  }
  Values b;
  for (int i = 1; i <= m; ++i) b.push_back(i - 0.5);
  return {a, b};
}

// The tables of Mann and Whitney (1947): P(U <= u), three decimals.
struct TableCase {
  int n;
  int m;
  int u;
  double p;
};

class MannWhitneyTable : public testing::TestWithParam<TableCase> {};

TEST_P(MannWhitneyTable, HasThePublishedProbability) {
  const TableCase& c = GetParam();
  const auto [a, b] = SamplesWithU(c.n, c.m, c.u);
  const RankTestResult result = MannWhitney(a, b, Alternative::kLess);
  EXPECT_EQ(result.u, c.u);
  EXPECT_TRUE(result.exact);
  EXPECT_NEAR(result.p, c.p, 0.0005);
}

INSTANTIATE_TEST_SUITE_P(Published, MannWhitneyTable,
                         testing::Values(TableCase{3, 3, 0, .050}, TableCase{3, 3, 1, .100},
                                         TableCase{3, 3, 2, .200}, TableCase{3, 3, 3, .350},
                                         TableCase{3, 3, 4, .500}, TableCase{4, 3, 0, .029},
                                         TableCase{4, 3, 1, .057}, TableCase{4, 4, 0, .014},
                                         TableCase{4, 4, 1, .029}, TableCase{4, 4, 2, .057},
                                         TableCase{4, 4, 3, .100}, TableCase{4, 4, 8, .557},
                                         TableCase{5, 5, 2, .016}, TableCase{5, 5, 3, .028},
                                         TableCase{5, 5, 4, .048}, TableCase{5, 5, 12, .500},
                                         TableCase{8, 8, 13, .025}, TableCase{8, 8, 15, .041}),
                         [](const auto& test) {
                           return std::to_string(test.param.n) + "And" +
                                  std::to_string(test.param.m) + "U" + std::to_string(test.param.u);
                         });

// The worked example of scipy.stats.mannwhitneyu: ages at which a disease was found.
TEST(MannWhitney, AgreesWithTheExampleOfScipy) {
  const Values males = {19, 22, 16, 29, 24};
  const Values females = {20, 11, 17, 12};
  const RankTestResult exact = MannWhitney(males, females, Alternative::kTwoSided);
  EXPECT_EQ(exact.u, 17);
  EXPECT_NEAR(exact.p, 0.1111111111111111, 1e-12);
  EXPECT_EQ(MannWhitney(females, males, Alternative::kTwoSided).u, 3);
  const RankTestResult normal = MannWhitneyNormal(males, females, Alternative::kTwoSided);
  EXPECT_EQ(normal.u, 17);
  EXPECT_FALSE(normal.exact);
  EXPECT_NEAR(normal.p, 0.11134688653314041, 1e-12);
}

// Hollander and Wolfe (1973), p. 69 f., permeability of the chorioamnion; the example of R's
// wilcox.test.
const Values kAtTerm = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
const Values kEarlier = {1.15, 0.88, 0.90, 0.74, 1.21};

TEST(MannWhitney, AgreesWithTheExampleOfR) {
  const RankTestResult result = MannWhitney(kAtTerm, kEarlier, Alternative::kGreater);
  EXPECT_EQ(result.u, 35);
  EXPECT_NEAR(result.p, 0.1272, 0.00005);
}

TEST(HodgesLehmann, AgreesWithTheExampleOfR) {
  const ShiftEstimate shift = HodgesLehmann(kEarlier, kAtTerm, 0.95);
  EXPECT_NEAR(shift.estimate, 0.305, 1e-9);
  EXPECT_NEAR(shift.low, -0.15, 1e-9);
  EXPECT_NEAR(shift.high, 0.76, 1e-9);
  EXPECT_GE(shift.confidence, 0.95);
  EXPECT_LT(shift.confidence, 0.97);
}

TEST(MannWhitney, SidesMirrorEachOther) {
  const Values a = {1, 4, 4, 9, 2};
  const Values b = {3, 4, 7, 8};
  for (const auto test : {MannWhitney, MannWhitneyNormal}) {
    EXPECT_EQ(test(a, b, Alternative::kLess).p, test(b, a, Alternative::kGreater).p);
    EXPECT_EQ(test(a, b, Alternative::kTwoSided).p, test(b, a, Alternative::kTwoSided).p);
    EXPECT_EQ(test(a, b, Alternative::kLess).u + test(b, a, Alternative::kLess).u, 20);
  }
}

TEST(MannWhitney, DoesNotDependOnOrderOrScale) {
  const double p = MannWhitney(Values{1, 2, 3, 9}, Values{4, 5, 6, 7}, Alternative::kLess).p;
  EXPECT_EQ(MannWhitney(Values{9, 3, 1, 2}, Values{7, 4, 6, 5}, Alternative::kLess).p, p);
  EXPECT_EQ(MannWhitney(Values{90, 30, 10, 20}, Values{70, 40, 60, 50}, Alternative::kLess).p, p);
}

TEST(MannWhitney, FindsNothingWhereAllIsTied) {
  const Values same(4, 7.0);
  for (const Alternative side :
       {Alternative::kTwoSided, Alternative::kLess, Alternative::kGreater}) {
    EXPECT_EQ(MannWhitney(same, same, side).p, 1);
    EXPECT_EQ(MannWhitneyNormal(same, same, side).p, 1);
  }
}

// The normal approximation would say 0.02 here, which three against three never can.
TEST(MannWhitney, TiesNeverMakePSmallerThanPossible) {
  const RankTestResult result = MannWhitney(Values{1, 1, 1}, Values{2, 2, 2}, Alternative::kLess);
  EXPECT_EQ(result.u, 0);
  EXPECT_NEAR(result.p, 0.05, 1e-12);
}

// By hand: of the 6 ways to choose two of {1, 2, 2, 3}, ranks 1, 2.5, 2.5, 4, two sums are 3.5, two
// are 6.5, two are 5.
TEST(MannWhitney, CountsArrangementsOfTiedValues) {
  const RankTestResult result = MannWhitney(Values{1, 2}, Values{2, 3}, Alternative::kLess);
  EXPECT_EQ(result.u, 0.5);
  EXPECT_NEAR(result.p, 2.0 / 6, 1e-12);
}

TEST(MannWhitney, IsNormalAboveTheExactSize) {
  Values a;
  Values b;
  for (int i = 0; i < 40; ++i) {
    a.push_back(i);
    b.push_back(i + 10.5);
  }
  const RankTestResult result = MannWhitney(a, b, Alternative::kLess);
  EXPECT_FALSE(result.exact);
  EXPECT_GT(result.p, 1e-6);
  EXPECT_LT(result.p, 1e-3);
}

TEST(MannWhitney, ApproximationIsCloseToTheExactOne) {
  Values a;
  Values b;
  for (int i = 0; i < 25; ++i) {
    a.push_back(i);
    b.push_back(i + 4.5);
  }
  for (const Alternative side :
       {Alternative::kTwoSided, Alternative::kLess, Alternative::kGreater}) {
    EXPECT_NEAR(MannWhitney(a, b, side).p, MannWhitneyNormal(a, b, side).p, 0.003);
  }
}

TEST(MannWhitney, RanksNoAnswerHighest) {
  EXPECT_NEAR(
      MannWhitney(Values{1, 2, 3, 4}, Values{kInfinity, kInfinity, 9, 8}, Alternative::kLess).p,
      1.0 / 70, 1e-12);
}

TEST(MannWhitney, KnowsNothingWithoutValues) {
  EXPECT_EQ(MannWhitney(Values{}, Values{1, 2}, Alternative::kTwoSided).p, 1);
}

TEST(SmallestP, IsWhatSeparateSamplesGive) {
  EXPECT_EQ(SmallestP(3, 3, Alternative::kLess), 0.05);
  EXPECT_NEAR(SmallestP(4, 4, Alternative::kLess), 1.0 / 70, 1e-15);
  EXPECT_NEAR(SmallestP(4, 4, Alternative::kTwoSided), 2.0 / 70, 1e-15);
  EXPECT_EQ(SmallestP(1, 1, Alternative::kTwoSided), 1);
  EXPECT_EQ(SmallestP(0, 4, Alternative::kLess), 1);
  EXPECT_EQ(MannWhitney(Values{1, 2, 3, 4}, Values{5, 6, 7, 8}, Alternative::kLess).p,
            SmallestP(4, 4, Alternative::kLess));
}

TEST(HodgesLehmann, MovesWithTheSecondSample) {
  const Values a = {1, 2, 4, 8};
  Values b = a;
  for (double& value : b) value += 10;
  const ShiftEstimate shift = HodgesLehmann(a, b, 0.95);
  EXPECT_EQ(shift.estimate, 10);
  EXPECT_EQ(shift.low, 3);    // 11 - 8
  EXPECT_EQ(shift.high, 17);  // 18 - 1
  EXPECT_NEAR(shift.confidence, 1 - 2.0 / 70, 1e-12);
  const ShiftEstimate back = HodgesLehmann(b, a, 0.95);
  EXPECT_EQ(back.estimate, -10);
  EXPECT_EQ(back.low, -17);
  EXPECT_EQ(back.high, -3);
}

TEST(HodgesLehmann, SaysWhenItsIntervalIsLessSureThanAsked) {
  EXPECT_NEAR(HodgesLehmann(Values{1, 2, 3}, Values{4, 5, 6}, 0.95).confidence, 0.9, 1e-12);
  EXPECT_EQ(HodgesLehmann(Values{1}, Values{4}, 0.95).confidence, 0);
}

TEST(HodgesLehmann, TwoWithoutAnAnswerDoNotDiffer) {
  const ShiftEstimate same = HodgesLehmann(Values(4, kInfinity), Values(4, kInfinity), 0.95);
  EXPECT_EQ(same.estimate, 0);
  const ShiftEstimate worse = HodgesLehmann(Values(4, 1.0), Values(4, kInfinity), 0.95);
  EXPECT_EQ(worse.estimate, kInfinity);
}

TEST(HodgesLehmann, RefusesAnEmptySample) {
  EXPECT_THROW(HodgesLehmann(Values{}, Values{1}, 0.95), Error);
}

// Cut short by nothing: the largest samples that are still exact.
TEST(HodgesLehmann, TakesTheLargestRounds) {
  Values a;
  Values b;
  for (int i = 0; i < 30; ++i) {
    a.push_back(i);
    b.push_back(i + 100);
  }
  const ShiftEstimate shift = HodgesLehmann(a, b, 0.95);
  EXPECT_EQ(shift.estimate, 100);
  EXPECT_NEAR(shift.confidence, 0.95, 0.005);
  EXPECT_GT(shift.low, 93);
}

}  // namespace
}  // namespace throttletest::internal
