#include "burn_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn_server {
namespace {

using testing::HasSubstr;

TEST(BurnRequestParse, ReadsWorkAndMemory) {
  EXPECT_EQ(std::get<BurnRequest>(ParseBurnRequest({{"ms", "20"}})), (BurnRequest{20, 0}));
  EXPECT_EQ(std::get<BurnRequest>(ParseBurnRequest({{"mb", "64"}, {"ms", "0.25"}})),
            (BurnRequest{0.25, 64}));
}

TEST(BurnRequestParse, AcceptsBothEndsOfTheRanges) {
  EXPECT_EQ(std::get<BurnRequest>(ParseBurnRequest({{"ms", "0"}, {"mb", "0"}})),
            (BurnRequest{0, 0}));
  EXPECT_EQ(std::get<BurnRequest>(ParseBurnRequest({{"ms", "600000"}, {"mb", "65536"}})),
            (BurnRequest{600000, 65536}));
}

TEST(BurnRequestIterations, RoundsToWholeIterations) {
  EXPECT_EQ((BurnRequest{20, 0}.Iterations(500000)), 10000000U);
  EXPECT_EQ((BurnRequest{0.5, 0}.Iterations(3)), 2U);
  EXPECT_EQ((BurnRequest{0.001, 0}.Iterations(1000)), 1U);
  EXPECT_EQ((BurnRequest{600000, 0}.Iterations(1000000000)), 600000000000000U);
}

struct BadCase {
  const char* name;
  QueryParameters parameters;
  const char* reason;
};

void PrintTo(const BadCase& bad, std::ostream* os) { *os << bad.name; }

class BadBurnRequest : public testing::TestWithParam<BadCase> {};

TEST_P(BadBurnRequest, IsRefusedWithTheReason) {
  const auto parsed = ParseBurnRequest(GetParam().parameters);
  ASSERT_TRUE(std::holds_alternative<BadRequest>(parsed));
  EXPECT_THAT(std::get<BadRequest>(parsed).reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadBurnRequest,
    testing::Values(
        BadCase{"Nothing", {}, "\"ms\" is missing"},
        BadCase{"OnlyMemory", {{"mb", "1"}}, "\"ms\" is missing"},
        BadCase{
            "Empty", {{"ms", ""}}, "ms=\"\" is not a decimal number of milliseconds in 0..600000"},
        BadCase{"Word", {{"ms", "fast"}}, "ms=\"fast\""},
        BadCase{"Negative", {{"ms", "-1"}}, "ms=\"-1\""},
        BadCase{"NegativeZero", {{"ms", "-0"}}, "ms=\"-0\""},
        BadCase{"NotANumber", {{"ms", "nan"}}, "ms=\"nan\""},
        BadCase{"Infinite", {{"ms", "inf"}}, "ms=\"inf\""},
        BadCase{"WithUnit", {{"ms", "20ms"}}, "ms=\"20ms\""},
        BadCase{"Exponent", {{"ms", "1e3"}}, "ms=\"1e3\""},
        BadCase{"TooMuchWork", {{"ms", "600000.1"}}, "0..600000"},
        BadCase{"TooMuchMemory", {{"ms", "1"}, {"mb", "65537"}}, "0..65536"},
        BadCase{
            "FractionOfMemory", {{"ms", "1"}, {"mb", "1.5"}}, "mb=\"1.5\" is not a whole number"},
        BadCase{"NegativeMemory", {{"ms", "1"}, {"mb", "-1"}}, "mb=\"-1\""},
        BadCase{"HugeMemory", {{"ms", "1"}, {"mb", "99999999999999999999"}}, "0..65536"},
        BadCase{"UnknownName", {{"ms", "1"}, {"MB", "1"}}, "unknown parameter \"MB\""},
        BadCase{"Twice", {{"ms", "1"}, {"ms", "2"}}, "\"ms\" is given twice"},
        BadCase{"MemoryTwice", {{"mb", "1"}, {"ms", "2"}, {"mb", "1"}}, "\"mb\" is given twice"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace burn_server
