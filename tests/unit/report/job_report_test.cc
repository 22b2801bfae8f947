// What is reported of a job: summary, details, properties, JSON and table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/measurement_builder.h"
#include "throttletest/report/job_table.h"
#include "throttletest/report/json.h"
#include "throttletest/report/text.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

MeasurementBuilder Quarter() {
  return MeasurementBuilder().Quota(25ms).Throttled(40, 39, 3s).Usage(1s).Job(4s);
}
MeasurementBuilder Free() {
  return MeasurementBuilder().NoQuota().Throttled(0, 0, 0s).Usage(1s).Job(1s);
}

TEST(JobReport, SummaryAndDetailsSpeakOfTheJobAlone) {
  const Measurement m = Quarter().Build();
  EXPECT_EQ(Summary(m),
            "exited with status 0, elapsed 4.00 s, throttle ratio 0.97 (39 of 40 periods), 1.00 s "
            "CPU, 0.25 CPUs");
  EXPECT_THAT(Details(m), AllOf(HasSubstr("job          sysbench cpu run\n"),
                                HasSubstr("end          exited with status 0\n"),
                                HasSubstr("elapsed      4.00 s\n"), Not(HasSubstr("response")),
                                Not(HasSubstr("start lag"))));
}

TEST(JobReport, PropertiesHaveElapsedAndStatus) {
  const auto list = Properties(Quarter().Build());
  EXPECT_THAT(list, Contains(Pair("elapsed_ms", "4000.0")));
  EXPECT_THAT(list, Contains(Pair("exit_status", "0")));
  EXPECT_THAT(list, Contains(Pair("cpu_ms", "1000.0")));
  EXPECT_THAT(list, Not(Contains(Pair("requests", testing::_))));
}

TEST(JobReport, JsonHasTheJobAndNoLoad) {
  const Measurement free = Free().Build();
  const auto json = nlohmann::json::parse(ToJson(Quarter().Build(), {}, &free));
  EXPECT_EQ(json["job"]["elapsed_ns"], 4'000'000'000);
  EXPECT_EQ(json["job"]["exit_code"], 0);
  EXPECT_TRUE(json["job"]["signal"].is_null());
  EXPECT_EQ(json["job"]["succeeded"], true);
  EXPECT_EQ(json["job"]["unlimited"]["elapsed_ns"], 1'000'000'000);
  EXPECT_TRUE(json["load"].is_null());
  EXPECT_THAT(json["not_available"]["load"], HasSubstr("a job was run"));
  const auto alone = nlohmann::json::parse(ToJson(Quarter().Build(), {}));
  EXPECT_TRUE(alone["job"]["unlimited"].is_null());
  EXPECT_TRUE(alone["not_available"].contains("job.unlimited"));
  const auto service = nlohmann::json::parse(ToJson(MeasurementBuilder().Build(), {}));
  EXPECT_TRUE(service["job"].is_null());
  EXPECT_TRUE(service["load"].is_object());
}

TEST(JobTable, ShowsRatiosToTheFirstRowAndNeverZeroForNothing) {
  MeasurementBuilder failed = Quarter();
  failed.inputs().job->end.exit_code = 3;
  JobTable table;
  table.Add("free", Free().Build());
  table.Add("25/100", Quarter().Build());
  table.Add("failed", failed.Build());
  table.Remark("25/100", "32.6 s (x4)");
  table.Remark("nobody", "x");
  const std::string text = table.ToString();
  EXPECT_THAT(text, HasSubstr("free     1.00       1.00   1.00   1.00      no quota   no quota     "
                              "no quota       64 MiB\n"));
  EXPECT_THAT(text, HasSubstr("25/100   4.00       4.00   1.00   0.25      39 of 40   3.00         "
                              "76.9           64 MiB  32.6 s (x4)\n"));
  EXPECT_THAT(text, HasSubstr("exited with status 3\n"));
}

}  // namespace
}  // namespace throttletest
