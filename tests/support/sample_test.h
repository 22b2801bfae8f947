// SampleTest: the fixture of tests that run whole programs on the cgroup launcher.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "support/leftovers.h"

namespace throttletest::test {

// Skips where the launcher cannot work, and sees that the programs left no cgroup behind.
class SampleTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "the cgroup launcher needs root on this kind of host";
  }
  void TearDown() override {
    EXPECT_THAT(CgroupLeftoversAfter(std::chrono::seconds(3)), testing::IsEmpty());
  }
};

}  // namespace throttletest::test
