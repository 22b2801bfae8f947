#include "load/pacer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "load/tally.h"
#include "support/milliseconds.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using testing_support::kMs;

TEST(Pacer, NamesEachBatchAndItsStart) {
  const auto pacer_records = RecordsOf(Schedule(8, 3, 1s, 1s));
  Pacer pacer(pacer_records, 200 * kMs);
  EXPECT_FALSE(pacer.finished());
  EXPECT_EQ(pacer.first_request(), 0);
  EXPECT_EQ(pacer.size(), 8);
  EXPECT_EQ(pacer.start_ns(), 0);
  pacer.Advance();
  EXPECT_EQ(pacer.first_request(), 8);
  EXPECT_EQ(pacer.start_ns(), 333'333'333);
  pacer.Advance();
  EXPECT_EQ(pacer.start_ns(), 666'666'667);
  pacer.Advance();
  EXPECT_TRUE(pacer.finished());
  EXPECT_EQ(pacer.start_ns(), kNever);
  EXPECT_EQ(pacer.prepare_ns(), kNever);
}

TEST(Pacer, PreparesTheFirstBatchWithinTheLead) {
  EXPECT_EQ(Pacer(RecordsOf(Schedule(1, 1, 1s, 1s)), 50 * kMs).prepare_ns(), -50 * kMs);
  EXPECT_EQ(Pacer(RecordsOf(Schedule(1, 1, 1s, 1s)), 0).prepare_ns(), 0);
}

TEST(Pacer, PreparesLaterBatchesInTheGapBefore) {
  const auto seconds_records = RecordsOf(Schedule(1, 1, 1s, 3s));
  Pacer seconds(seconds_records, 0);
  seconds.Advance();
  EXPECT_EQ(seconds.prepare_ns(), 800 * kMs);
  const auto hundred_records = RecordsOf(Schedule(1, 100, 1s, 3s));
  Pacer hundred(hundred_records, 0);
  hundred.Advance();
  EXPECT_EQ(hundred.prepare_ns(), 5 * kMs);
}

TEST(Pacer, WatchesForBatchesThatAreFarApart) {
  const auto records = RecordsOf(Schedule({{0ms, 1}, {99ms, 1}, {199ms, 1}}));
  Pacer pacer(records, 200 * kMs);
  EXPECT_EQ(pacer.watch_ns(), 500'000) << "the lead is a gap, too";
  pacer.Advance();
  EXPECT_EQ(pacer.watch_ns(), 0);
  pacer.Advance();
  EXPECT_EQ(pacer.watch_ns(), 500'000);
  pacer.Advance();
  EXPECT_EQ(pacer.watch_ns(), 0);
  EXPECT_EQ(Pacer(records, 0).watch_ns(), 0);
}

TEST(Pacer, PreparesCloseBatchesAtOnce) {
  const auto pacer_records = RecordsOf(Schedule(1, 1000, 1s, 3s));
  Pacer pacer(pacer_records, 0);
  pacer.Advance();
  pacer.Advance();
  EXPECT_EQ(pacer.start_ns(), 2 * kMs);
  EXPECT_EQ(pacer.prepare_ns(), 1 * kMs);
}

TEST(Pacer, AnEmptyScheduleIsFinished) {
  const auto pacer_records = RecordsOf(Schedule(1, 1, 1s, 0s));
  Pacer pacer(pacer_records, 0);
  EXPECT_TRUE(pacer.finished());
  EXPECT_EQ(pacer.start_ns(), kNever);
}

}  // namespace
}  // namespace throttletest::internal
