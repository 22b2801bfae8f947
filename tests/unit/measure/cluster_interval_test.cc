// Confidence intervals against published and hand-computed figures.
#include "measure/cluster_interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

std::vector<UnitShare> Alike(std::size_t count, UnitShare share) {
  return std::vector<UnitShare>(count, share);
}

// `count` samples 1..count ns; `per_unit` neighbours in rank share a unit.
UnitSamples Neighbours(std::uint32_t count, std::uint32_t per_unit) {
  UnitSamples samples;
  samples.unit_count = count / per_unit;
  for (std::uint32_t i = 0; i < count; ++i) {
    samples.values.emplace_back(nanoseconds(i + 1));
    samples.units.push_back(i / per_unit);
  }
  return samples;
}

// The same samples, dealt out in turn: every unit has its share of the small and the large ones.
UnitSamples Dealt(std::uint32_t count, std::uint32_t per_unit) {
  UnitSamples samples = Neighbours(count, per_unit);
  for (std::uint32_t i = 0; i < count; ++i) samples.units[i] = i % samples.unit_count;
  return samples;
}

std::optional<RankRange> Ranks(const UnitSamples& samples, double percent) {
  return PercentileRanks(samples, LatencySamples(samples.values), Percentile(percent));
}

TEST(PercentileRanks, AreThePublishedOnesForIndependentSamples) {
  struct Case {
    std::uint32_t count;
    double percent;
    std::int64_t low;
    std::int64_t high;
  };
  // Binomial tables: Conover, Practical Nonparametric Statistics, table A3, for the medians.
  for (const Case& c : {Case{20, 50, 6, 15}, Case{100, 50, 40, 61}, Case{10, 50, 2, 9},
                        Case{20, 90, 15, 21}, Case{368, 99, 360, 368}, Case{367, 99, 359, 368}}) {
    const auto ranks = Ranks(Neighbours(c.count, 1), c.percent);
    ASSERT_TRUE(ranks.has_value());
    EXPECT_TRUE(ranks->independent);
    EXPECT_EQ(ranks->low, c.low) << c.count << " P" << c.percent;
    EXPECT_EQ(ranks->high, c.high) << c.count << " P" << c.percent;
  }
}

TEST(PercentileRanks, SayHowManySamplesAnUpperEndTakes) {
  EXPECT_EQ(Ranks(Neighbours(367, 1), 99)->needed, 368);
  EXPECT_EQ(Ranks(Neighbours(368, 1), 99)->needed, 0);
  // 20 batches that are wholly fast or slow are worth 20 requests or less.
  EXPECT_GT(Ranks(Neighbours(160, 8), 99)->needed, 368);
}

TEST(PercentileRanks, AreAsFarApartAsTheUnitsDiffer) {
  const auto alone = Ranks(Neighbours(400, 1), 50);
  const auto dealt = Ranks(Dealt(400, 20), 50);
  const auto alike = Ranks(Neighbours(400, 20), 50);
  // Dealt out evenly, units hardly differ; yet never by less than one sample.
  EXPECT_LT(dealt->high - dealt->low, (alone->high - alone->low) / 2);
  EXPECT_GE(dealt->high - dealt->low, 4);
  EXPECT_GT(alike->high - alike->low, (alone->high - alone->low) * 4);
  EXPECT_FALSE(alike->independent);
}

TEST(PercentileRanks, NeedFiveUnitsAndAPercentileBelowAHundred) {
  EXPECT_FALSE(Ranks(Neighbours(40, 10), 50).has_value());
  EXPECT_TRUE(Ranks(Neighbours(50, 10), 50).has_value());
  EXPECT_FALSE(Ranks(Neighbours(50, 10), 100).has_value());
}

TEST(PercentileRanks, HaveNoLowerEndWhenTooFewSamplesAreBelow) {
  EXPECT_EQ(Ranks(Neighbours(20, 1), 10)->low, 0);
  EXPECT_EQ(Ranks(Neighbours(5, 1), 50)->low, 0);
}

TEST(ProportionRange, IsExactForNoneAndForAll) {
  // 1 - 0.025^(1/20), by the number of units and not of what is in them.
  EXPECT_NEAR(ProportionRange(Alike(20, {0, 10}), 0)->high, 0.1684, 0.0001);
  EXPECT_EQ(ProportionRange(Alike(20, {0, 10}), 0)->low, 0);
  EXPECT_NEAR(ProportionRange(Alike(20, {10, 10}), 1)->low, 0.8316, 0.0001);
  EXPECT_EQ(ProportionRange(Alike(20, {10, 10}), 1)->high, 1);
}

TEST(ProportionRange, IsTheExactOneForUnitsOfOne) {
  std::vector<UnitShare> shares = Alike(20, {0, 1});
  for (std::size_t i = 0; i < 2; ++i) shares[i].part = 1;
  const auto range = ProportionRange(shares, 0.1);
  // Clopper and Pearson's of 2 of 20.
  EXPECT_TRUE(range->exact);
  EXPECT_NEAR(range->low, 0.0123, 0.0001);
  EXPECT_NEAR(range->high, 0.3170, 0.0001);
}

TEST(ProportionRange, IsWilsonsForManyUnitsThatDifferByChance) {
  // 1000 units of 2: 250 times none, 500 times one, 250 times two, as a fair coin has it.
  std::vector<UnitShare> shares = Alike(1000, {1, 2});
  for (std::size_t i = 0; i < 500; ++i) shares[i].part = i % 2 == 0 ? 0 : 2;
  const auto range = ProportionRange(shares, 0.5);
  EXPECT_FALSE(range->exact);
  // Wilson's of 1000 of 2000.
  EXPECT_NEAR(range->low, 0.4781, 0.0001);
  EXPECT_NEAR(range->high, 0.5219, 0.0001);
}

TEST(ProportionRange, IsThatOfTheUnitsWhenEachIsAllOrNothing) {
  std::vector<UnitShare> whole = Alike(20, {0, 1});
  std::vector<UnitShare> many = Alike(20, {0, 50});
  for (std::size_t i = 0; i < 6; ++i) {
    whole[i].part = 1;
    many[i].part = 50;
  }
  EXPECT_NEAR(ProportionRange(many, 0.3)->low, ProportionRange(whole, 0.3)->low, 1e-9);
  EXPECT_NEAR(ProportionRange(many, 0.3)->high, ProportionRange(whole, 0.3)->high, 1e-9);
}

TEST(ProportionRange, IsNarrowButNotNothingWhenAllUnitsAreAlike) {
  const auto range = ProportionRange(Alike(20, {6, 10}), 0.6);
  EXPECT_LT(range->low, 0.592);
  EXPECT_GT(range->low, 0.58);
  EXPECT_GT(range->high, 0.608);
  EXPECT_LT(range->high, 0.62);
}

TEST(ProportionRange, LeavesOutUnitsWithoutAWholeAndNeedsFive) {
  std::vector<UnitShare> shares = Alike(4, {1, 2});
  shares.push_back({0, 0});
  EXPECT_FALSE(ProportionRange(shares, 0.5).has_value());
  shares.push_back({2, 2});
  EXPECT_TRUE(ProportionRange(shares, 0.6).has_value());
}

TEST(MeanRange, IsStudentsForUnitsOfEqualLength) {
  const std::vector<UnitShare> shares = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}};
  // Mean 3, standard deviation sqrt(2.5), t of 4 degrees of freedom 2.776.
  const double half = 2.7764 * std::sqrt(2.5 / 5);
  EXPECT_NEAR(MeanRange(shares, 3)->low, 3 - half, 0.001);
  EXPECT_NEAR(MeanRange(shares, 3)->high, 3 + half, 0.001);
  // Relative to the figure that is told, which may be over a longer time.
  EXPECT_NEAR(MeanRange(shares, 1.5)->high, (3 + half) / 2, 0.001);
  EXPECT_FALSE(MeanRange(Alike(20, {0, 1}), 0).has_value());
}

TEST(MeanRange, IsNeverBelowZero) {
  std::vector<UnitShare> shares = Alike(20, {0, 1});
  shares[0].part = 1;
  EXPECT_EQ(MeanRange(shares, 0.05)->low, 0);
}

}  // namespace
}  // namespace throttletest::internal
