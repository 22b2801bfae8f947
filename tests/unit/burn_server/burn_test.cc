#include "burn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <new>
#include <vector>

#include "calibrate.h"

namespace burn_server {
namespace {

const std::atomic<bool> kNever{false};

TEST(Mix, IsOneChainHoweverItIsCut) {
  EXPECT_EQ(Mix(Mix(kMixSeed, 1000), 234), Mix(kMixSeed, 1234));
  EXPECT_EQ(Mix(kMixSeed, 0), kMixSeed);
}

TEST(Mix, EveryRoundChangesTheState) {
  std::uint64_t previous = kMixSeed;
  for (std::uint64_t rounds = 1; rounds < 100; ++rounds) {
    const auto state = Mix(kMixSeed, rounds);
    EXPECT_NE(state, previous) << rounds;
    previous = state;
  }
}

TEST(Burn, DoesExactlyTheIterationsAskedFor) {
  // Below, at and above the distance between two looks at the stop flag.
  for (const std::uint64_t iterations : {0UL, 1UL, 65535UL, 65536UL, 65537UL, 200001UL}) {
    const auto result = Burn(iterations, kNever);
    EXPECT_EQ(result.iterations, iterations);
    EXPECT_EQ(result.checksum, Mix(kMixSeed, iterations));
    EXPECT_FALSE(result.stopped);
  }
}

TEST(Burn, MoreIterationsCostMoreCpu) {
  const auto few = Burn(100000, kNever);
  const auto many = Burn(10000000, kNever);
  EXPECT_GT(few.cpu.count(), 0);
  // A hundred times the work; a factor of five survives any noise.
  EXPECT_GT(many.cpu, 5 * few.cpu);
  EXPECT_GE(many.wall.count(), 0);
}

TEST(Burn, GivesUpWhenStopIsSet) {
  const std::atomic<bool> stop{true};
  const auto result = Burn(1000000000000, stop);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.iterations, 0U);
}

TEST(HeldMemory, EveryPageIsResident) {
  const HeldMemory memory(4, kNever);
  ASSERT_EQ(memory.bytes(), 4U << 20U);
  std::vector<unsigned char> resident(memory.bytes() / 4096);
  ASSERT_EQ(mincore(const_cast<void*>(memory.data()), memory.bytes(), resident.data()), 0);
  EXPECT_THAT(resident, testing::Each(testing::Truly([](int page) { return (page & 1) != 0; })));
}

TEST(HeldMemory, ZeroMapsNothing) {
  const HeldMemory memory(0, kNever);
  EXPECT_EQ(memory.bytes(), 0U);
  EXPECT_EQ(memory.data(), nullptr);
}

TEST(HeldMemory, SaysWhenTheKernelRefuses) {
  // 2^47 bytes are more than the address space of a process.
  EXPECT_THROW(HeldMemory(std::size_t{1} << 27U, kNever), std::bad_alloc);
}

TEST(Calibration, MedianIgnoresOutliersAndBestDoesNot) {
  const Calibration calibration{{500, 100, 510, 520, 5000}};
  EXPECT_EQ(calibration.Median(), 510U);
  EXPECT_EQ(calibration.Best(), 5000U);
  EXPECT_EQ(calibration.Worst(), 100U);
}

TEST(Calibration, NoSlicesIsZero) { EXPECT_EQ(Calibration{}.Median(), 0U); }

TEST(Calibrate, MeasuresARateThatMakesMilliseconds) {
  const auto calibration = Calibrate(5, 2);
  ASSERT_EQ(calibration.rates.size(), 5U);
  const double ms =
      std::chrono::duration<double, std::milli>(Burn(calibration.Best() * 5, kNever).cpu).count();
  // Five milliseconds of the best slice are never much faster than measured.
  EXPECT_GT(ms, 2.5);
}

}  // namespace
}  // namespace burn_server
