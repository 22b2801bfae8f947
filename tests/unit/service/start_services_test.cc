#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "throttletest/base/error.h"
#include "throttletest/service/services.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

ServiceSpec Named(const std::string& name, const std::string& program = "true") {
  ServiceSpec spec;
  spec.name = name;
  spec.command = {program};
  spec.launcher = LauncherKind::kCgroup;
  return spec;
}

// Nothing has been started when it leaves.
std::string RefusalOf(const std::vector<ServiceSpec>& specs) {
  try {
    StartServices(specs);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(StartServices, RefusesWhatHasNoNameOfItsOwn) {
  EXPECT_THAT(RefusalOf({}), HasSubstr("there is no service to start"));
  EXPECT_THAT(RefusalOf({Named("a"), Named("")}),
              HasSubstr("service 2 of 2 that start together has no name"));
  EXPECT_THAT(RefusalOf({Named("a"), Named("b"), Named("a")}),
              HasSubstr("two services that start together are named \"a\""));
}

TEST(StartServices, RefusesTheLastOnesMistakeBeforeTheFirstIsStarted) {
  EXPECT_THAT(RefusalOf({Named("a"), Named("b", "")}),
              AllOf(StartsWith("service \"b\": "), HasSubstr("empty word")));
  EXPECT_THAT(RefusalOf({Named("a"), Named("b", "/no/such/program")}),
              AllOf(StartsWith("service \"b\": "), HasSubstr("/no/such/program")));
  ServiceSpec negative = Named("b");
  negative.limits.cpus = -1;
  EXPECT_THAT(RefusalOf({Named("a"), negative}),
              AllOf(StartsWith("service \"b\": "), HasSubstr("-1")));
}

}  // namespace
}  // namespace throttletest
