#include "load/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/milliseconds.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_support::kMs;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMost = 1'000'000;

TEST(EvenArrivals, FallOnTheNearestNanosecond) {
  EXPECT_THAT(EvenArrivals(3, kSecond, kSecond, kMost), ElementsAre(0, 333'333'333, 666'666'667));
  EXPECT_THAT(EvenArrivals(3, kSecond, 0, kMost), IsEmpty());
}

TEST(PoissonArrivals, AreTheSameForTheSameSeed) {
  const auto once = PoissonArrivals(100, 7, 10 * kSecond, kMost);
  EXPECT_EQ(PoissonArrivals(100, 7, 10 * kSecond, kMost), once);
  EXPECT_NE(PoissonArrivals(100, 8, 10 * kSecond, kMost), once);
  // Also on other machines and with other libraries.
  ASSERT_GE(once.size(), 2u);
  EXPECT_EQ(once[0], 14'039'912);
}

TEST(PoissonArrivals, AreInOrderAndEndBeforeTheDuration) {
  const auto starts = PoissonArrivals(1000, 1, kSecond, kMost);
  EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
  EXPECT_GE(starts.front(), 0);
  EXPECT_LT(starts.back(), kSecond);
}

TEST(PoissonArrivals, HaveTheMeanAndTheSpreadOfAPoissonProcess) {
  // 100000 expected, standard deviation 316: five of them.
  const auto starts = PoissonArrivals(1000, 42, 100 * kSecond, kMost);
  EXPECT_NEAR(static_cast<double>(starts.size()), 100'000, 5 * 316);
  // The share of gaps above the mean is 1/e.
  std::int64_t above = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    if (starts[i] - starts[i - 1] > kMs) ++above;
  }
  EXPECT_NEAR(static_cast<double>(above) / static_cast<double>(starts.size()), std::exp(-1.0),
              0.01);
}

TEST(RampArrivals, FollowTheIntegralOfTheRate) {
  // 10 t + 5 t^2 = i: from 10 to 20 a second over one second are 15 arrivals.
  const auto starts = RampArrivals(10, 20, kSecond, kMost);
  ASSERT_EQ(starts.size(), 15u);
  EXPECT_EQ(starts[0], 0);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const double t = static_cast<double>(starts[i]) / 1e9;
    EXPECT_NEAR(10 * t + 5 * t * t, static_cast<double>(i), 1e-6);
  }
}

TEST(RampArrivals, MayBeginOrEndAtNothing) {
  const auto up = RampArrivals(0, 100, 2 * kSecond, kMost);
  EXPECT_EQ(up.size(), 100u);
  EXPECT_EQ(up[0], 0);
  EXPECT_EQ(up[25], kSecond);  // 25 t^2 = i
  const auto down = RampArrivals(100, 0, 2 * kSecond, kMost);
  EXPECT_EQ(down.size(), 100u);
  EXPECT_LT(down.back(), 2 * kSecond);
  EXPECT_TRUE(std::is_sorted(down.begin(), down.end()));
}

TEST(RampArrivals, OfOneRateAreEven) {
  EXPECT_EQ(RampArrivals(100, 100, kSecond, kMost), EvenArrivals(100, kSecond, kSecond, kMost));
}

TEST(Arrivals, AreRefusedWhenThereAreTooMany) {
  EXPECT_THROW(EvenArrivals(11, kSecond, kSecond, 10), Error);
  EXPECT_THROW(PoissonArrivals(1000, 1, kSecond, 10), Error);
  EXPECT_THROW(RampArrivals(11, 11, kSecond, 10), Error);
  EXPECT_NO_THROW(EvenArrivals(10, kSecond, kSecond, 10));
}

}  // namespace
}  // namespace throttletest::internal
