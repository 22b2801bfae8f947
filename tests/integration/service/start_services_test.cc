// Several services that start together, in cgroups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "service_support.h"
#include "throttletest/base/error.h"
#include "throttletest/service/services.h"

namespace throttletest::test {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

ServiceSpec Named(const std::string& name, std::vector<std::string> flags, Limits limits = {}) {
  ServiceSpec spec = Toy(std::move(flags), std::move(limits));
  spec.name = name;
  return spec;
}

class StartServicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override { EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty()); }
};

std::string FailureOf(const std::vector<ServiceSpec>& specs) {
  try {
    StartServices(specs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotReady) << error.what();
    return error.what();
  }
  return "no error";
}

TEST_F(StartServicesTest, StartTogetherEachUnderItsOwnLimits) {
  const auto began = steady_clock::now();
  const auto services =
      StartServices({Named("a", {"--sleep=1500", "--port={port}"}, {.cpus = 0.5}),
                     Named("b", {"--sleep=1500", "--port={port}"}, {.cpus = 0.25})});
  EXPECT_LT(steady_clock::now() - began, 2900ms) << "one after the other takes 3 s";
  ASSERT_EQ(services.size(), 2U);
  EXPECT_EQ(services[0]->spec().name, "a");
  EXPECT_EQ(services[0]->cgroup().Read().EffectiveCpu().cpus, 0.5);
  EXPECT_EQ(services[1]->cgroup().Read().EffectiveCpu().cpus, 0.25);
  EXPECT_NE(services[0]->port(), services[1]->port());
}

TEST_F(StartServicesTest, OneThatNeverBecomesReadyStopsTheOthersAndIsNamed) {
  ServiceSpec never = Named("never", {"--sleep=60000"});
  never.ready = HttpReady("/").Within(700ms);
  const std::string failure = FailureOf({Named("ready", {"--port={port}"}), never});
  EXPECT_THAT(failure, StartsWith("service \"never\": "));
  EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty());
}

// The reason is that of the one that failed, not that the other was interrupted.
TEST_F(StartServicesTest, OneThatEndsAtOnceDoesNotLetTheOthersWait) {
  const auto began = steady_clock::now();
  const std::string failure =
      FailureOf({Named("slow", {"--sleep=60000", "--port={port}"}), Named("dead", {"--exit=3"})});
  EXPECT_THAT(failure, StartsWith("service \"dead\": "));
  EXPECT_THAT(failure, HasSubstr("exited with status 3"));
  EXPECT_THAT(failure, Not(HasSubstr("stopped while")));
  EXPECT_LT(steady_clock::now() - began, 15s);
}

TEST_F(StartServicesTest, AStopRequestEndsAllStarts) {
  std::stop_source stop;
  stop.request_stop();
  ErrorCode code{};
  try {
    StartServices({Named("a", {"--port={port}"}), Named("b", {"--port={port}"})}, stop.get_token());
  } catch (const Error& error) {
    code = error.code();
  }
  EXPECT_EQ(code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace throttletest::test
