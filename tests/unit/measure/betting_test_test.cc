#include "measure/betting_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace throttletest::internal {
namespace {

using Answer = BettingTest::Answer;

constexpr double kErrorRate = 0.05;

// What share of 2000 series of `length` observations end with `wrong`, looked at after every one.
template <typename Draw>
double ShareOf(Answer wrong, double bound, int length, Draw draw) {
  constexpr int kSeries = 2000;
  std::mt19937_64 random(7);
  int found = 0;
  for (int i = 0; i < kSeries; ++i) {
    BettingTest test(bound, kErrorRate);
    for (int k = 0; k < length; ++k) test.Add(draw(random));
    if (test.answer() == wrong) ++found;
  }
  return static_cast<double>(found) / kSeries;
}

TEST(BettingTest, HasNoAnswerBeforeItsFloor) {
  BettingTest test(0.05, kErrorRate);
  const std::int64_t floor = BettingTest::Floor(0.05, kErrorRate).value();
  for (std::int64_t i = 1; i < floor; ++i) test.Add(0);
  EXPECT_EQ(test.answer(), Answer::kOpen);
  test.Add(0);
  EXPECT_EQ(test.answer(), Answer::kBelow);
  EXPECT_EQ(test.count(), floor);
}

// Nobody can know sooner: with a share of `bound` against it, that many in a row are for it with a
// chance of just the error rate.
TEST(BettingTest, FloorIsNearTheLeastAnyMethodNeeds) {
  for (const double bound : {0.01, 0.05, 0.15, 0.5}) {
    const double least = std::log(kErrorRate) / std::log(1 - bound);
    const auto floor = static_cast<double>(BettingTest::Floor(bound, kErrorRate).value());
    EXPECT_GE(floor, std::floor(least)) << bound;
    EXPECT_LE(floor, std::ceil(1.25 * least)) << bound;
  }
}

TEST(BettingTest, HasNoFloorWhenABoundLetsNextToNothingThrough) {
  EXPECT_EQ(BettingTest::Floor(1e-17, kErrorRate), std::nullopt);
  EXPECT_EQ(BettingTest::Floor(1e-9, kErrorRate), std::nullopt);
}

TEST(BettingTest, FindsAClearExcessWithinAFewObservations) {
  BettingTest test(0.05, kErrorRate);
  while (test.answer() == Answer::kOpen) test.Add(0.6);
  EXPECT_EQ(test.answer(), Answer::kAbove);
  EXPECT_LE(test.count(), 3);
}

TEST(BettingTest, KeepsItsAnswer) {
  BettingTest test(0.05, kErrorRate);
  for (int i = 0; i < 100; ++i) test.Add(0);
  const std::int64_t count = test.count();
  for (int i = 0; i < 100; ++i) test.Add(1);
  EXPECT_EQ(test.answer(), Answer::kBelow);
  EXPECT_EQ(test.count(), count);
}

// The mean is the bound itself, the hardest case of both claims.
TEST(BettingTest, ErrsNoMoreOftenThanAgreedHoweverOftenItIsAsked) {
  for (const double bound : {0.01, 0.05, 0.3}) {
    const auto coin = [&](auto& random) {
      return std::bernoulli_distribution(bound)(random) ? 1.0 : 0.0;
    };
    EXPECT_LE(ShareOf(Answer::kBelow, bound, 1000, coin), kErrorRate + 0.01) << bound;
    EXPECT_LE(ShareOf(Answer::kAbove, bound, 1000, coin), kErrorRate + 0.01) << bound;
  }
}

// A batch of 8 of which either most are slow or none is one observation, not 8.
TEST(BettingTest, CorrelationInsideAnObservationCostsNoErrors) {
  constexpr double kBound = 0.05;
  const auto batch = [](auto& random) {
    const bool bad = std::bernoulli_distribution(kBound / 0.75)(random);
    return bad ? 0.75 : 0.0;
  };
  EXPECT_LE(ShareOf(Answer::kBelow, kBound, 600, batch), kErrorRate + 0.01);
  EXPECT_LE(ShareOf(Answer::kAbove, kBound, 600, batch), kErrorRate + 0.01);
}

// Eight answers of one batch taken for eight observations: what the one above guards against.
TEST(BettingTest, WouldErrIfRequestsOfABatchCountedOneByOne) {
  constexpr double kBound = 0.05;
  std::mt19937_64 random(7);
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    BettingTest test(kBound, kErrorRate);
    for (int k = 0; k < 200; ++k) {
      const double all = std::bernoulli_distribution(kBound)(random) ? 1.0 : 0.0;
      for (int request = 0; request < 8; ++request) test.Add(all);
    }
    if (test.answer() != Answer::kOpen) ++wrong;
  }
  EXPECT_GT(wrong, 300);
}

}  // namespace
}  // namespace throttletest::internal
