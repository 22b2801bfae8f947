// What a user of the package writes, as far as it needs no container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <throttletest/throttletest.h>
#include <unistd.h>

namespace {

using namespace throttletest;
using namespace std::chrono_literals;

TEST(Package, LinksTheEngine) { EXPECT_EQ(ParseDuration("150ms"), 150ms); }

TEST(Package, LinksTheMatchers) {
  const auto matcher = ThrottleRatioBelow(0.05);
  EXPECT_THAT(testing::DescribeMatcher<const Measurement&>(matcher), testing::HasSubstr("0.05"));
}

TEST(Package, BringsThePrograms) {
  EXPECT_EQ(access(BURN_SERVER, X_OK), 0) << BURN_SERVER;
#ifdef THROTTLETEST_COMMAND
  EXPECT_EQ(access(THROTTLETEST_COMMAND, X_OK), 0) << THROTTLETEST_COMMAND;
#endif
}

class CpuLimit : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    return {.command = {BURN_SERVER, "--port={port}"}, .limits = {.cpus = 2.0}};
  }
};

// Compiled and linked, never run: running it is the business of the examples.
TEST_F(CpuLimit, DISABLED_BurstFitsQuota) {
  const Measurement m = Measure(Batches(8).Every(1s).For(20s).WarmUp(3s), Get("/burn?ms=20"));
  EXPECT_THAT(m, AllOf(P99Below(150ms), NoFailedRequests()));
}

}  // namespace
