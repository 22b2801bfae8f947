#include "load/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace throttletest::internal {
namespace {

using testing::HasSubstr;

TEST(Faults, C121WhatThisMachineRanOutOfIsTheGenerators) {
  EXPECT_EQ(ConnectFault(EADDRNOTAVAIL).reason, "no free local port");
  for (const int error : {EADDRNOTAVAIL, EMFILE, ENFILE, ENOBUFS, ENOMEM, EPERM}) {
    EXPECT_TRUE(ConnectFault(error).generator) << error;
  }
}

TEST(Faults, WhatTheServiceDoesIsTheServices) {
  for (const int error : {ECONNREFUSED, ECONNRESET, ETIMEDOUT, EHOSTUNREACH}) {
    EXPECT_FALSE(ConnectFault(error).generator) << error;
  }
  EXPECT_EQ(ConnectFault(ECONNREFUSED).reason, "connection refused");
  EXPECT_THAT(ConnectFault(ETIMEDOUT).reason, HasSubstr("timed out"));
}

TEST(Faults, AResetOrABrokenPipeIsAClosedConnection) {
  for (const int error : {ECONNRESET, EPIPE}) {
    EXPECT_TRUE(BrokenFault(error).closed);
    EXPECT_EQ(BrokenFault(error).reason, "connection reset");
  }
  EXPECT_FALSE(BrokenFault(ETIMEDOUT).closed);
  EXPECT_TRUE(BrokenFault(ENOBUFS).generator);
}

}  // namespace
}  // namespace throttletest::internal
