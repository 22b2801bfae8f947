#include "throttletest/base/byte_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "throttletest/base/error.h"

namespace throttletest {
namespace {

TEST(ByteSize, ReadsBytesAndBinaryUnits) {
  EXPECT_EQ(ParseByteSize("67108864"), 64_MiB);
  EXPECT_EQ(ParseByteSize("64m"), 64_MiB);
  EXPECT_EQ(ParseByteSize("64MiB"), 64_MiB);
  EXPECT_EQ(ParseByteSize(" 1g "), 1_GiB);
  EXPECT_EQ(ParseByteSize("1.5g").bytes(), 1610612736);
  EXPECT_EQ(ParseByteSize("512k"), 512_KiB);
}

TEST(ByteSize, ReadsUnlimited) {
  EXPECT_TRUE(ParseByteSize("-1").unlimited());
  EXPECT_TRUE(ParseByteSize("unlimited").unlimited());
}

TEST(ByteSize, RefusesOtherTextsQuotingThem) {
  for (const char* text : {"", "m", "64x", "-5", "1e3", "nan", "64 m m"}) {
    try {
      ParseByteSize(text);
      ADD_FAILURE() << "accepted \"" << text << '"';
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(e.what(), testing::HasSubstr(std::string("\"") + text + '"'));
    }
  }
}

TEST(ByteSize, PrintsTheLargestUnit) {
  EXPECT_EQ(ToString(64_MiB), "64 MiB");
  EXPECT_EQ(ToString(ByteSize(1610612736)), "1.5 GiB");
  EXPECT_EQ(ToString(ByteSize(1000)), "1000 bytes");
  EXPECT_EQ(ToString(ByteSize::Unlimited()), "unlimited");
}

}  // namespace
}  // namespace throttletest
