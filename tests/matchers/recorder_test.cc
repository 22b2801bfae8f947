#include "recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"
#include "throttletest/gtest/main.h"
#include "throttletest/gtest/matchers.h"

namespace throttletest::internal {
namespace {

using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

std::string PropertyOf(const char* key) {
  const testing::TestResult& result =
      *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.test_property_count(); ++i) {
    const testing::TestProperty& property = result.GetTestProperty(i);
    if (std::string(property.key()) == key) return property.value();
  }
  return "none";
}

TEST(Recorder, RecordsPropertiesOfEveryMeasurement) {
  Recorder& recorder = Recorder::Instance();
  recorder.Add(MeasurementBuilder().Quota(100ms).Throttled(200, 50, 1s).Build());
  recorder.Add(MeasurementBuilder().NoQuota().Build());
  EXPECT_THAT(PropertyOf("throttle_ratio"), testing::StartsWith("0.25"));
  EXPECT_THAT(PropertyOf("2.throttle_ratio"), testing::HasSubstr("no CPU quota in force"));
  EXPECT_THAT(PropertyOf("p99_ms"), testing::StartsWith("30"));
  recorder.Flush();
}

TEST(Recorder, NamesFilesAfterTheTest) {
  EXPECT_EQ(CurrentTestFileName(), "Recorder.NamesFilesAfterTheTest");
}

}  // namespace
}  // namespace throttletest::internal
