#include "throttletest/load/latency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/milliseconds.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Property;
using testing::ThrowsMessage;
using testing_support::L;

LatencySamples Ms(const std::vector<int>& ms) {
  std::vector<Latency> samples;
  for (const int m : ms) samples.emplace_back(std::chrono::milliseconds(m));
  return LatencySamples(std::move(samples));
}

LatencySamples Range(int first, int last) {
  std::vector<int> ms;
  for (int i = first; i <= last; ++i) ms.push_back(i);
  return Ms(ms);
}

TEST(Percentiles, C140NearestRankIsNotTheMaximumForTwentySamples) {
  EXPECT_EQ(Range(0, 19).At(Percentile(95)), L(18));
}

TEST(Percentiles, C141ThreeSamplesHaveTheirMaximumAsP99) {
  EXPECT_EQ(Ms({10, 20, 30}).At(Percentile(99)), L(30));
}

TEST(Percentiles, C143RankIsNeverZero) {
  for (const double p : {0.001, 1.0, 50.0, 99.0, 100.0}) {
    EXPECT_EQ(Ms({500}).At(Percentile(p)), L(500)) << p;
  }
  EXPECT_EQ(Range(1, 101).At(Percentile(99)), L(100));
}

TEST(Percentiles, C145TenSamplesHaveHighPercentiles) {
  EXPECT_EQ(Range(1, 10).At(Percentile(50)), L(5));
  EXPECT_EQ(Range(1, 10).At(Percentile(90)), L(9));
  EXPECT_EQ(Range(1, 10).At(Percentile(95)), L(10));
  EXPECT_EQ(Range(1, 10).At(Percentile(99)), L(10));
}

TEST(Percentiles, C146OneOutlierOfTenIsNotP90) {
  EXPECT_EQ(Ms({59, 59, 59, 59, 59, 59, 61, 67, 75, 1438}).At(Percentile(90)), L(75));
}

TEST(Percentiles, C148NothingIsInterpolated) {
  std::vector<int> one_slow(99, 1);
  one_slow.push_back(1000);
  EXPECT_EQ(Ms(one_slow).At(Percentile(99)), L(1));
  std::vector<int> two_slow(98, 1);
  two_slow.insert(two_slow.end(), {1000, 1000});
  EXPECT_EQ(Ms(two_slow).At(Percentile(99)), L(1000));
}

TEST(Percentiles, C149HigherPercentilesAreNeverLower) {
  std::mt19937 random(1);
  std::vector<Latency> samples;
  for (int i = 0; i < 10000; ++i) samples.emplace_back(std::chrono::nanoseconds(random()));
  const LatencySamples sorted(std::move(samples));
  Latency before;
  for (int p = 1; p <= 1000; ++p) {
    const Latency here = sorted.At(Percentile(p / 10.0));
    EXPECT_GE(here, before);
    before = here;
  }
  EXPECT_EQ(before, sorted.max());
}

TEST(Percentiles, C150P99OfTwoBurstsIsOfTheirMergedSamples) {
  std::vector<int> merged(100, 1);
  merged.insert(merged.end(), 100, 100);
  EXPECT_EQ(Ms(merged).At(Percentile(99)), L(100));
}

TEST(Percentiles, C150LabelsKeepTheirDecimals) {
  EXPECT_EQ(Percentile(50).ToString(), "P50");
  EXPECT_EQ(Percentile(99.9).ToString(), "P99.9");
  EXPECT_EQ(Percentile(99.99).ToString(), "P99.99");
  EXPECT_EQ(Percentile(99.999).ToString(), "P99.999");
  EXPECT_EQ(Percentile(100).ToString(), "P100");
  EXPECT_EQ(Percentile(0.05).ToString(), "P0.05");
}

TEST(Percentiles, C151P10OfTwentyOneSamplesIsTheThird) {
  EXPECT_EQ(Range(1, 21).Rank(Percentile(10)), 3);
}

// ceil(p x n / 100) in floating point gives 8, 56 and 8 here.
TEST(Percentiles, RanksAreExactIntegers) {
  EXPECT_EQ(Range(1, 100).Rank(Percentile(7)), 7);
  EXPECT_EQ(Range(1, 100).Rank(Percentile(55)), 55);
  EXPECT_EQ(Range(1, 25).Rank(Percentile(28)), 7);
}

TEST(Percentiles, C153SamplesNeededToDifferFromTheMaximum) {
  EXPECT_EQ(Range(1, 30).At(Percentile(99)), Range(1, 30).max());
  EXPECT_EQ(Percentile(99).SamplesNeeded(), 100);
  EXPECT_EQ(Percentile(99.9).SamplesNeeded(), 1000);
  EXPECT_EQ(Percentile(95).SamplesNeeded(), 20);
  EXPECT_EQ(Percentile(50).SamplesNeeded(), 2);
  EXPECT_EQ(Percentile(70).SamplesNeeded(), 4);
  EXPECT_EQ(Percentile(100).SamplesNeeded(), 1);
  // One sample fewer and the percentile is the maximum; with as many it is not.
  EXPECT_EQ(Range(1, 99).Rank(Percentile(99)), 99);
  EXPECT_EQ(Range(1, 100).Rank(Percentile(99)), 99);
}

TEST(Percentiles, C126NoValueIsTooLargeToRecord) {
  const LatencySamples samples = Ms({1, 120'000});
  EXPECT_EQ(samples.count(), 2);
  EXPECT_EQ(samples.At(Percentile(100)), Latency(120s));
}

TEST(Percentiles, InfiniteLatenciesRankLast) {
  const LatencySamples samples({Latency::Infinite(), L(5), L(1)});
  EXPECT_EQ(samples.At(Percentile(50)), L(5));
  EXPECT_TRUE(samples.max().infinite());
  EXPECT_EQ(ToString(samples.max()), "no answer");
}

TEST(Percentiles, C189LatenciesArePrintedWithTheirUnit) {
  EXPECT_EQ(ToString(Latency(285'432us)), "285.4 ms");
}

TEST(Percentiles, OutOfRangeIsRefused) {
  for (const double p :
       {0.0, -1.0, 100.001, 1e300, 0.0004, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)Percentile(p), Error) << p;
  }
  EXPECT_THAT([] { (void)Percentile(101); }, ThrowsMessage<Error>(HasSubstr("percentile 101")));
}

TEST(Percentiles, OfNoSamplesDoNotExist) {
  const LatencySamples none;
  EXPECT_TRUE(none.empty());
  EXPECT_THAT([&] { (void)none.At(Percentile(99)); },
              ThrowsMessage<Error>(HasSubstr("P99 of no samples")));
  EXPECT_THROW((void)none.max(), Error);
  EXPECT_THROW((void)none.Rank(Percentile(1)), Error);
}

}  // namespace
}  // namespace throttletest
