#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "throttletest/base/error.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BudgetRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(BudgetRoundTrip, ReadsWhatItPrints) {
  EXPECT_EQ(ParseBudget(GetParam()).ToString(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    All, BudgetRoundTrip,
    testing::Values("throttle_ratio<0.05", "throttle_ratio<=1", "throttled_periods<=0",
                    "throttled_bursts<3", "throttled_time_per_second<1.5", "cpu_usage<0.25",
                    "p50<150ms", "p99.9<1500us", "p99<2s", "p99.99<1ns", "max<=2s",
                    "service_p99<150ms", "service_max<1s", "error_ratio<0.01", "failed_requests<=0",
                    "start_lag_p99<5ms", "start_lag_max<20ms", "memory_peak<64MiB",
                    "memory_peak<1000", "oom_kills<=0", "queue_depth_8<=240s",
                    "queue_depth_1<=1500ms", "workers<=1", "workers<9", "unused_limit<=0.05",
                    "threads_over_quota<=2"));

TEST(BudgetParse, IgnoresBlanks) {
  EXPECT_EQ(ParseBudget("  p99 <  150 ms ").ToString(), "p99<150ms");
  EXPECT_EQ(ParseBudget("throttle_ratio <= 0.1").ToString(), "throttle_ratio<=0.1");
}

TEST(BudgetParse, ReadsOtherUnits) {
  EXPECT_EQ(ParseBudget("p99<0.15s").ToString(), "p99<150ms");
  EXPECT_EQ(ParseBudget("memory_peak<64m").ToString(), "memory_peak<64MiB");
  EXPECT_EQ(ParseBudget("p100<1s").ToString(), "max<1s");
}

std::string MessageOf(const char* text) {
  try {
    ParseBudget(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument) << text;
    return e.what();
  }
  return "no error";
}

struct BadBudget {
  const char* name;
  const char* text;
  const char* message;
};

class BudgetRefusal : public testing::TestWithParam<BadBudget> {};

TEST_P(BudgetRefusal, QuotesTheTextAndSaysWhy) {
  const std::string message = MessageOf(GetParam().text);
  EXPECT_THAT(message, HasSubstr(std::string("budget \"") + GetParam().text + "\": "));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BudgetRefusal,
    testing::Values(
        BadBudget{"Typo", "p9x<1ms", "unknown metric \"p9x\"; did you mean \"p99\"? known: "},
        BadBudget{"FinerThanAPercentile", "p99.9999<1ms",
                  "unknown metric \"p99.9999\"; did you mean"},
        BadBudget{"SmallerThanAPercentile", "p0.0001<1ms", "unknown metric \"p0.0001\""},
        BadBudget{"MissingDot", "p999<1ms", "did you mean \"p99\"?"},
        BadBudget{"LetterLeftOut", "throtle_ratio<0.1", "did you mean \"throttle_ratio\"?"},
        BadBudget{"UpperCase", "P99<1ms", "did you mean \"p99\"?"},
        BadBudget{"ServicePercentile", "service_p<1ms", "did you mean \"service_p99\"?"},
        BadBudget{"Nothing", "", "no metric"}, BadBudget{"NoMetric", "<5", "no metric"},
        BadBudget{"NoBound", "p99", "no bound; write p99<150ms or p99<=150ms"},
        BadBudget{"NoBoundAfterSign", "throttle_ratio<", "no bound after <"},
        BadBudget{"NoBoundAfterSigns", "throttle_ratio<=", "no bound after <="},
        BadBudget{"Above", "p99>150ms", "only < and <= are possible"},
        BadBudget{"Equal", "failed_requests=0", "only < and <= are possible"},
        BadBudget{"NoUnit", "p99<150", "has no unit: write 150ms or 150s"},
        BadBudget{"WrongUnit", "throttle_ratio<50ms", "a number from 0 to 1, such as 0.05"},
        BadBudget{"Percent", "throttle_ratio<5%", "a number from 0 to 1, such as 0.05"},
        BadBudget{"RatioAboveOne", "throttle_ratio<5", "ratios go from 0 to 1"},
        BadBudget{"Negative", "error_ratio<-0.1", "must be 0 or more"},
        BadBudget{"Fraction", "failed_requests<1.5", "write a whole number, such as 3"},
        BadBudget{"NotANumber", "cpu_usage<nan", "\"nan\" is not a bound for the CPU usage"},
        BadBudget{"Unlimited", "memory_peak<unlimited", "must be 0 or more"},
        BadBudget{"MemoryUnit", "memory_peak<64ms", "is not a memory size"},
        BadBudget{"PercentileAbove100", "p101<1s", "unknown metric \"p101\""},
        BadBudget{"PercentileZero", "p0<1s", "unknown metric \"p0\""},
        BadBudget{"QueueWithoutDepth", "queue_depth<=240s", "did you mean \"queue_depth_8\"?"},
        BadBudget{"QueueDepthInWords", "queue_depth_eight<=240s",
                  "\"queue_depth_eight\" names no depth: write the number of jobs"},
        BadBudget{"QueueDepthZero", "queue_depth_0<=240s", "a queue depth of 0 is not possible"},
        BadBudget{"QueueBelow", "queue_depth_8<240s", "write <= instead of <"},
        BadBudget{"QueueWithoutUnit", "queue_depth_8<=240", "has no unit"},
        BadBudget{"TwoSigns", "p99<<1s", "is not a duration"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(BudgetParse, OffersNoSuggestionForSomethingElse) {
  EXPECT_THAT(MessageOf("bananas<1"),
              AllOf(HasSubstr("unknown metric \"bananas\"; known: throttle_ratio"),
                    Not(HasSubstr("did you mean"))));
}

}  // namespace
}  // namespace throttletest
