#include "throttletest/report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

TEST(Summary, IsOneLineWithTheDecidingNumbers) {
  EXPECT_EQ(Summary(MeasurementBuilder().Quota(100ms).Throttled(277, 77, 30s).Build()),
            "throttle ratio 0.28 (77 of 277 periods), P50 30.0 ms, P99 30.0 ms, 160 requests, 0.20 "
            "CPUs");
}

TEST(Summary, TellsWhatIsNotAvailableFailedOrInconclusive) {
  EXPECT_THAT(Summary(MeasurementBuilder().NoQuota().Fail(0, 500, 1ms, "HTTP 500").Build()),
              AllOf(HasSubstr("throttle ratio n/a: no CPU quota in force"),
                    HasSubstr("160 requests, 1 failed")));
  EXPECT_THAT(Summary(MeasurementBuilder().Throttled(0, 0, 0s).Build()),
              HasSubstr("throttle ratio inconclusive: no enforcement period elapsed"));
  EXPECT_THAT(Summary(MeasurementBuilder().NotSent(0).Build()),
              AllOf(HasSubstr("1 not sent"), HasSubstr("; inconclusive: 1 of 160 requests")));
  EXPECT_THAT(Summary(MeasurementBuilder().Ancestor("/job", 50ms, 100, 50).Build()),
              HasSubstr("(50 of 100 periods) by ancestor /job"));
}

TEST(Summary, HasNoPercentilesOfNothing) {
  EXPECT_THAT(Summary(MeasurementBuilder().Responses({1ms}).NotSent(0).Build()),
              Not(HasSubstr("P99")));
}

TEST(Details, C013LabelsUseAgainstLimitAndHost) {
  const std::string text = Details(MeasurementBuilder().Quota(50ms).Usage(10s).Wall(20s).Build());
  EXPECT_THAT(text, HasSubstr("0.50 CPUs, 100.0 % of the limit, 6.25 % of the host"));
  EXPECT_THAT(text, HasSubstr("0.5 CPUs by the quota of /svc"));
  EXPECT_THAT(text, HasSubstr("(nearest rank, 160 requests)"));
  EXPECT_THAT(text, HasSubstr("validity     trusted"));
}

TEST(Details, SaysThatLimitsWereFoundWhereTheServiceWasAttachedTo) {
  const std::string text = Details(MeasurementBuilder().Quota(50ms).Attached().Build());
  EXPECT_THAT(text, HasSubstr("launcher     docker container web\n"));
  EXPECT_THAT(text, HasSubstr("limits       found, not asked for: CPU 50 ms per 100 ms (0.5 CPUs); "
                              "in force: 0.5 CPUs by the quota of /svc\n"));
}

TEST(Details, NamesTheCpusetAndTheNotes) {
  MeasurementBuilder b;
  b.NoQuota().Cpuset("1").inputs().warm_up_failed = 2;
  b.inputs().warm_up_planned = 8;
  b.inputs().before.cpuset_path = b.inputs().after->cpuset_path = "/svc";
  const std::string text = Details(b.Build());
  EXPECT_THAT(text, HasSubstr("1 CPUs by the cpuset of /svc"));
  EXPECT_THAT(text, HasSubstr("note         2 of 8 warm-up requests failed"));
  EXPECT_THAT(text, HasSubstr("throttle ratio n/a: no CPU quota in force"));
}

TEST(Details, SaysWhetherThePeakIsTheWindows) {
  MeasurementBuilder b;
  EXPECT_THAT(Details(b.Build()), HasSubstr("peak 64 MiB, OOM kills 0"));
  b.inputs().before.memory.peak = b.inputs().after->memory.peak;
  EXPECT_THAT(Details(b.Build()), HasSubstr("peak at least 48 MiB, at most 64 MiB, OOM kills 0"));
}

TEST(Properties, AreNumbersWithTheUnitInTheName) {
  const auto list = Properties(MeasurementBuilder().Quota(100ms).Throttled(277, 77, 30s).Build());
  const std::map<std::string, std::string> p(list.begin(), list.end());
  EXPECT_EQ(p.size(), list.size()) << "a name is used twice";
  EXPECT_EQ(p.at("throttle_ratio"), "0.28");
  EXPECT_EQ(p.at("nr_throttled"), "77");
  EXPECT_EQ(p.at("throttled_ms"), "30000.0");
  EXPECT_EQ(p.at("p99_ms"), "30.0");
  EXPECT_EQ(p.at("max_ms"), "30.0");
  EXPECT_EQ(p.at("cpu_usage_cpus"), "0.20");
  EXPECT_EQ(p.at("validity"), "trusted");
  EXPECT_EQ(p.at("oom_kills"), "0");
}

TEST(Properties, SayWhyThereIsNoValue) {
  MeasurementBuilder b;
  b.NoQuota().Responses({1ms}).TimeOut(0, 1s);
  b.inputs().after->memory.peak.reset();
  const auto list = Properties(b.Build());
  const std::map<std::string, std::string> p(list.begin(), list.end());
  EXPECT_EQ(p.at("throttle_ratio"), "n/a: no CPU quota in force");
  EXPECT_EQ(p.at("p50_ms"), "n/a: no answer");
  EXPECT_THAT(p.at("memory_peak_bytes"), HasSubstr("n/a: no memory peak"));
}

}  // namespace
}  // namespace throttletest
