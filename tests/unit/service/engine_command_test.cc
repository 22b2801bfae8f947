#include "service/engine_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

Engine Docker() {
  Engine engine;
  engine.kind = LauncherKind::kDocker;
  engine.global_options = {"--host", "unix:///run/test.sock"};
  engine.run_options = {"--log-driver", "json-file"};
  return engine;
}

LaunchRequest Request(const Limits& limits = {}) {
  LaunchRequest request;
  request.command = {"/srv/app", "--port=8123", "a b"};
  request.port = 8123;
  request.limits = ResolveLimits(limits, CpuSet({0, 1, 2, 3}));
  return request;
}

std::vector<std::string> RunWords(const LaunchRequest& request) {
  return RunCall(Docker(), request, "name-1", "image-1", true).arguments;
}

// The word after `option`. Absent: "", the option is not given.
std::string ValueOf(const std::vector<std::string>& arguments, const std::string& option) {
  const auto at = std::find(arguments.begin(), arguments.end(), option);
  return at == arguments.end() ? "" : *(at + 1);
}

TEST(EngineRun, TheWholeCallWithoutLimits) {
  EXPECT_THAT(RunWords(Request()),
              ElementsAre("run", "--detach", "--name", "name-1", "--pull=never", "--restart", "no",
                          "--label", OwnLabel(), "--label", UserLabel(), "--log-driver",
                          "json-file", "--network", "host", "--workdir", "/", "image-1", "/srv/app",
                          "--port=8123", "a b"));
}

TEST(EngineRun, GlobalOptionsComeBeforeTheSubcommand) {
  EXPECT_THAT(Docker().Argv({"rm", "--force", "x"}),
              ElementsAre("docker", "--host", "unix:///run/test.sock", "rm", "--force", "x"));
}

TEST(EngineRun, AUsersImageKeepsItsWorkingDirectory) {
  const auto call = RunCall(Docker(), Request(), "name-1", "debian:12", false);
  EXPECT_THAT(call.arguments, AllOf(Contains("debian:12"), Not(Contains("--workdir"))));
}

TEST(EngineRun, LimitsAreGivenInTheKernelsNumbers) {
  const auto arguments = RunWords(Request({.quota = milliseconds(30),
                                           .period = milliseconds(60),
                                           .cpuset = "0-1,3",
                                           .memory = ByteSize(64 << 20),
                                           .memory_swap = ByteSize(96 << 20)}));
  EXPECT_EQ(ValueOf(arguments, "--cpu-quota"), "30000");
  EXPECT_EQ(ValueOf(arguments, "--cpu-period"), "60000");
  EXPECT_EQ(ValueOf(arguments, "--cpuset-cpus"), "0-1,3");
  EXPECT_EQ(ValueOf(arguments, "--memory"), "67108864");
  EXPECT_EQ(ValueOf(arguments, "--memory-swap"), "100663296");
  EXPECT_THAT(arguments, Not(Contains("--cpus")));
}

TEST(EngineRun, C055CpusBecomeTruncatedQuotas) {
  const auto quota = [](double cpus) {
    return ValueOf(RunWords(Request({.cpus = cpus})), "--cpu-quota");
  };
  EXPECT_EQ(quota(0.257), "25700");
  EXPECT_EQ(quota(0.2579999), "25799");
  EXPECT_EQ(quota(0.015), "1500");
  EXPECT_EQ(quota(1.0000001), "100000");
}

TEST(EngineRun, C180MemoryAndSwapTogetherIsWhatEnginesTake) {
  const auto swap = [](Limits limits) {
    limits.memory = ByteSize(64 << 20);
    return ValueOf(RunWords(Request(limits)), "--memory-swap");
  };
  // Equal to the memory: no swap. The engine itself subtracts for v2.
  EXPECT_EQ(swap({.memory_swap = ByteSize(64 << 20)}), "67108864");
  EXPECT_EQ(swap({.memory_swap = ByteSize::Unlimited()}), "-1");
  EXPECT_EQ(swap({}), "134217728");
}

TEST(EngineRun, APublishedPortIsOnLoopbackOnly) {
  LaunchRequest request = Request();
  request.container_port = 80;
  const auto arguments = RunWords(request);
  EXPECT_EQ(ValueOf(arguments, "--publish"), "127.0.0.1:8123:80");
  EXPECT_THAT(arguments, Not(Contains("--network")));
}

TEST(EngineRun, SecretsAreNeverOnTheCommandLine) {
  LaunchRequest request = Request();
  request.env = {{"PLAIN", "a \"quoted\"\nvalue $HOME"}};
  request.secret_env = {{"TOKEN", "s3cr3t\nwith a second line"}};
  const EngineCall call = RunCall(Docker(), request, "name-1", "image-1", true);
  EXPECT_THAT(call.arguments, Each(Not(HasSubstr("s3cr3t"))));
  EXPECT_THAT(call.arguments, Contains("TOKEN"));
  EXPECT_THAT(call.arguments, Contains("PLAIN=a \"quoted\"\nvalue $HOME"));
  EXPECT_THAT(call.env, ElementsAre(Pair("TOKEN", "s3cr3t\nwith a second line")));
}

TEST(EngineRun, ASecretThatWouldSteerTheCommandIsRefused) {
  for (const char* name : {"DOCKER_HOST", "PATH", "LD_PRELOAD", "XDG_RUNTIME_DIR"}) {
    LaunchRequest request = Request();
    request.secret_env = {{name, "s3cr3t"}};
    try {
      RunWords(request);
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(e.what(), AllOf(HasSubstr(name), Not(HasSubstr("s3cr3t"))));
    }
  }
}

TEST(EngineRun, NamesThatAreOptionsOrHoldBlanksAreRefused) {
  for (const char* image : {"", "--privileged", "a b", "a\nb"}) {
    EXPECT_THROW(RunCall(Docker(), Request(), "name-1", image, false), Error) << image;
  }
  for (const char* name : {"", "A B", "A=B", "A\n"}) {
    LaunchRequest request = Request();
    request.env = {{name, "x"}};
    EXPECT_THROW(RunWords(request), Error) << name;
  }
}

TEST(EngineUpdate, NoQuotaLiftsTheQuota) {
  EXPECT_THAT(UpdateCall(ResolvedLimits{}, "name-1"),
              ElementsAre("update", "--cpu-period", "100000", "--cpu-quota", "-1", "name-1"));
}

TEST(EngineUpdate, AllThatEnginesCanSet) {
  const auto limits = ResolveLimits(
      {.cpus = 0.5, .cpuset = "1", .memory = ByteSize(64 << 20), .memory_swap = ByteSize(64 << 20)},
      CpuSet({0, 1}));
  EXPECT_THAT(
      UpdateCall(limits, "name-1"),
      ElementsAre("update", "--cpu-period", "100000", "--cpu-quota", "50000", "--cpuset-cpus", "1",
                  "--memory", "67108864", "--memory-swap", "67108864", "name-1"));
}

TEST(EngineImport, TheImageHasItsOwner) {
  EXPECT_THAT(ImportCall(LauncherKind::kDocker, "name-1"),
              ElementsAre("import", "--change", "LABEL " + OwnLabel(), "--change",
                          "LABEL " + UserLabel(), "-", "name-1"));
  EXPECT_THAT(ImportCall(LauncherKind::kPodman, "name-1"),
              ElementsAre("import", "--change", "LABEL " + OwnLabel(), "--change",
                          "LABEL " + UserLabel(), "/dev/stdin", "name-1"));
  EXPECT_THAT(OwnLabel(), HasSubstr("throttletest.owner="));
  EXPECT_EQ(UserLabel(), "throttletest.user=" + std::to_string(::geteuid()));
}

}  // namespace
}  // namespace throttletest::internal
