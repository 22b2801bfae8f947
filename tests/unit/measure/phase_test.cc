#include "measure/phase.h"

#include <gtest/gtest.h>

#include <array>

#include "throttletest/load/plan.h"
#include "throttletest/load/traffic.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST(Phase, AWholeMultipleOfThePeriodIsInPhase) {
  EXPECT_TRUE(IsInPhase(Batches(8).Every(1s).For(10s).measured(), 100ms));
  EXPECT_TRUE(IsInPhase(Batches(8).Every(100ms).For(1s).measured(), 100ms));
  EXPECT_TRUE(IsInPhase(Batches(8).Every(999ms).For(4s).measured(), 100ms));
  EXPECT_FALSE(IsInPhase(Batches(8).Every(1030ms).For(10s).measured(), 100ms));
  EXPECT_FALSE(IsInPhase(Batches(8).Every(50ms).For(1s).measured(), 100ms));
  EXPECT_FALSE(IsInPhase(Poisson(5_rps, 1).For(10s).measured(), 100ms));
  EXPECT_FALSE(IsInPhase(Batches(8).Every(1s).For(2s).measured(), 100ms)) << "two tell nothing";
}

TEST(Phase, MovesBatchesToPointsAllOverThePeriod) {
  const Schedule before = Batches(8).Every(1s).For(20s).measured();
  const Schedule after = OutOfPhase(before, 100ms);
  ASSERT_EQ(after.batch_count(), 20);
  std::array<int, 4> quarters{};
  for (std::int64_t i = 0; i < 20; ++i) {
    const nanoseconds moved = after.StartOf(i) - before.StartOf(i);
    ASSERT_GE(moved, 0ns);
    ASSERT_LT(moved, 100ms);
    ++quarters.at(static_cast<std::size_t>(moved / 25ms));
  }
  for (const int count : quarters) EXPECT_GE(count, 4);
  EXPECT_EQ(after.request_count(), before.request_count());
  EXPECT_FALSE(IsInPhase(after, 100ms));
}

TEST(Phase, KeepsTheKindsOfRequests) {
  const Traffic mix(Batches(2).Every(1s).For(3s), {{Get("/a"), 1}, {Get("/b"), 1}});
  const Schedule after = OutOfPhase(mix.measured(), 100ms);
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(after.KindOf(i), mix.measured().KindOf(i)) << i;
}

TEST(Phase, LeavesBatchesThatAreCloseTogetherAlone) {
  const Schedule close = Batches(8).Every(100ms).For(1s).measured();
  EXPECT_EQ(OutOfPhase(close, 100ms).batches(), close.batches());
}

}  // namespace
}  // namespace throttletest::internal
