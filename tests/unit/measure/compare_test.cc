#include "throttletest/measure/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/untouched_service.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::UntouchedService;
using namespace std::chrono_literals;

std::string RefusalOf(const std::vector<LimitSetting>& settings,
                      const CompareOptions& options = {}) {
  UntouchedService service;
  try {
    CompareRounds(service, settings, Batches(1).Every(1s).For(1s), Get("/"), options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "no error";
}

TEST(CompareRounds, RefusesSettingsThatCannotBeCompared) {
  EXPECT_THAT(RefusalOf({}), HasSubstr("0 settings cannot be compared"));
  EXPECT_THAT(RefusalOf({{.name = "a"}}), HasSubstr("1 setting cannot be compared"));
  EXPECT_THAT(RefusalOf({{.name = "a"}, {.name = "a"}}), HasSubstr("two settings"));
  EXPECT_THAT(RefusalOf({{.name = "a"}, {.name = ""}}), HasSubstr("no name"));
}

TEST(CompareRounds, RefusesTheLastSettingsLimitsBeforeTheFirstIsMeasured) {
  EXPECT_THAT(RefusalOf({{.name = "a"}, {.name = "b", .limits = {.cpus = -1}}}), HasSubstr("-1"));
}

TEST(CompareRounds, RefusesBadOptions) {
  const std::vector<LimitSetting> two = {{.name = "a"}, {.name = "b"}};
  EXPECT_THAT(RefusalOf(two, {.rounds = 0}), AllOf(HasSubstr("0 rounds"), HasSubstr("1 to 30")));
  EXPECT_THAT(RefusalOf(two, {.rounds = 31}), HasSubstr("31 rounds"));
  EXPECT_THAT(RefusalOf(two, {.measure = {.retries = -1}}), HasSubstr("retries"));
}

TEST(CompareRounds, DefaultRoundsCanShowADifference) { EXPECT_EQ(CompareOptions{}.rounds, 4); }

}  // namespace
}  // namespace throttletest
