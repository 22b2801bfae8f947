#include "throttletest/cgroup/cpu_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_text.h"

namespace throttletest {
namespace {

using testing::HasSubstr;

TEST(CpuSetParse, C168CountsASetAndNotTheParts) {
  EXPECT_EQ(CpuSet::Parse("0-1,2,3-5").count(), 6);
  EXPECT_EQ(CpuSet::Parse("0-2,1-3").count(), 4);
  EXPECT_EQ(CpuSet::Parse("3,3").count(), 1);
}

TEST(CpuSetParse, C169TrimsBlanks) {
  EXPECT_EQ(CpuSet::Parse(" 0-1 , 3 \n"), CpuSet({0, 1, 3}));
  EXPECT_EQ(CpuSet::Parse("0 - 1"), CpuSet({0, 1}));
}

TEST(CpuSetParse, ReadsAnEmptyListAsTheEmptySet) {
  EXPECT_TRUE(CpuSet::Parse("").empty());
  EXPECT_TRUE(CpuSet::Parse("\n").empty());
}

TEST(CpuSetParse, C170RefusesBadListsQuotingThem) {
  for (const std::string text :
       {"1--3", "10-6", "0-", ",1", "a", "1,", "1,,2", "-", "0x1", "+1", "1 2", "-1", "1-2-3"}) {
    EXPECT_THAT(ErrorText(ErrorCode::kInvalidArgument, [&] { CpuSet::Parse(text); }),
                HasSubstr("CPU list \"" + text + "\": "));
  }
  EXPECT_EQ(ErrorText(ErrorCode::kInvalidArgument, [] { CpuSet::Parse("10-6"); }),
            "CPU list \"10-6\": the range 10-6 runs backwards; write for example 0-3,7");
}

TEST(CpuSetParse, C171RefusesAnEnormousRangeAtOnce) {
  for (const char* text : {"0-18446744073709551615", "0-65536", "4294967296", "0-2147483647"}) {
    EXPECT_THAT(ErrorText(ErrorCode::kInvalidArgument, [&] { CpuSet::Parse(text); }),
                HasSubstr("above the largest number 65535"));
  }
  EXPECT_TRUE(CpuSet::Parse("65535").Contains(65535));
}

TEST(CpuSet, PrintsTheShortestKernelNotation) {
  EXPECT_EQ(CpuSet::Parse("7,0,2,1,3").ToString(), "0-3,7");
  EXPECT_EQ(CpuSet::Parse("4,5").ToString(), "4-5");
  EXPECT_EQ(CpuSet().ToString(), "");
}

TEST(CpuSet, KnowsItsSubsets) {
  const CpuSet set = CpuSet::Parse("0-3");
  EXPECT_TRUE(set.Includes(CpuSet::Parse("1,3")));
  EXPECT_TRUE(set.Includes(CpuSet()));
  EXPECT_FALSE(set.Includes(CpuSet::Parse("3-4")));
  EXPECT_FALSE(set.Contains(4));
}

}  // namespace
}  // namespace throttletest
