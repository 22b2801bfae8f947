// How services in docker and podman start and end, and that nothing is left.
#include <sys/wait.h>

#include <chrono>
#include <csignal>

#include "engine_support.h"
#include "service/engine_sweep.h"
#include "service/image_build.h"
#include "service/port.h"
#include "service/subprocess.h"
#include "throttletest/base/error.h"

namespace throttletest::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EngineEnd : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, EngineEnd,
                         ::testing::Values(LauncherKind::kDocker, LauncherKind::kPodman),
                         EngineName);

TEST_P(EngineEnd, StopReportsARunningServiceAndRemovesAll) {
  const auto service = StartService(Spec({"--print=hello", "--port={port}"}));
  const pid_t pid = service->pid();
  const std::string directory = service->cgroup().location().cpu->directory();
  const ExitReport report = service->Stop();
  EXPECT_TRUE(report.stopped_by_us);
  EXPECT_EQ(report.oom_kills, 0);
  EXPECT_THAT(report.logs, HasSubstr("hello\n"));
  EXPECT_EQ(report.ToString(), "ran until it was stopped");
  EXPECT_FALSE(ProcessLives(pid));
  EXPECT_FALSE(std::filesystem::exists(directory));
  EXPECT_THAT(ThingsOf(GetParam(), ::getpid()), IsEmpty());
  EXPECT_EQ(service->Stop().logs, report.logs) << "a second Stop() gives the same report";
}

TEST_P(EngineEnd, TheEnvironmentReachesTheServiceAsItIs) {
  ServiceSpec spec = Spec({"--print-env=PLAIN", "--print-env=TOKEN", "--port={port}"});
  spec.env = {{"PLAIN", "a \"b\" $HOME #c"}};
  spec.secret_env = {{"TOKEN", "first\nsecond"}};
  const auto service = StartService(spec);
  EXPECT_THAT(service->logs(),
              AllOf(HasSubstr("PLAIN=a \"b\" $HOME #c\n"), HasSubstr("TOKEN=first\nsecond\n")));
}

TEST_P(EngineEnd, ExitAtOnceFailsFastWithStatusAndLog) {
  ErrorCode code{};
  const std::string text = StartError(Spec({"--print=bad config", "--exit=3"}), &code);
  EXPECT_EQ(code, ErrorCode::kNotReady);
  EXPECT_THAT(text, AllOf(HasSubstr("exited with status 3"), HasSubstr("bad config")));
}

TEST_P(EngineEnd, AScriptIsRefusedWithTheWayOut) {
  ServiceSpec spec = Spec({});
  spec.command = {"/usr/bin/ldd"};
  EXPECT_THAT(StartError(spec), HasSubstr("it is a script (#!)"));
}

TEST_P(EngineEnd, AnImageThatIsNotHereIsNamed) {
  ServiceSpec spec = Spec({});
  spec.image = "localhost/throttletest/no-such-image:1";
  EXPECT_THAT(StartError(spec), HasSubstr("image \"localhost/throttletest/no-such-image:1\""));
}

TEST_P(EngineEnd, AnExitWhileRunningIsTrouble) {
  // Long enough for a busy engine to hand the service over before it ends.
  ServiceSpec spec = Spec({"--sleep=4000", "--exit=3"});
  spec.ready = AtOnce();
  const auto service = StartService(spec);
  ASSERT_TRUE(Eventually([&] { return !service->alive(); }));
  EXPECT_EQ(service->Trouble(), "exited with status 3");
  const ExitReport report = service->Stop();
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_FALSE(report.stopped_by_us);
}

TEST_P(EngineEnd, C096AKillWithoutOomIsNotCalledOom) {
  const auto service = StartService(Spec({"--port={port}"}, {.memory = 64_MiB}));
  ::kill(service->pid(), SIGKILL);
  ASSERT_TRUE(Eventually([&] { return !service->alive(); }));
  EXPECT_EQ(service->Stop().ToString(), "killed by SIGKILL, no OOM recorded");
}

TEST_P(EngineEnd, C098OomEvidenceSurvivesTheRemovalOfTheCgroup) {
  ServiceSpec spec =
      Spec({"--sleep=4000", "--touch=64"}, {.memory = 16_MiB, .memory_swap = 16_MiB});
  spec.ready = AtOnce();
  const auto service = StartService(spec);
  ASSERT_TRUE(Eventually([&] { return !service->alive(); }));
  const ExitReport report = service->Stop();
  EXPECT_EQ(report.oom_kills, 1);
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_EQ(report.ToString(), "OOM-killed (1 kill)");
}

TEST_P(EngineEnd, C098OomBeforeReadyIsTheReason) {
  ErrorCode code{};
  const std::string text = StartError(
      Spec({"--touch=64", "--port={port}"}, {.memory = 16_MiB, .memory_swap = 16_MiB}), &code);
  EXPECT_EQ(code, ErrorCode::kNotReady);
  // podman has no flag of its own for a kill that came before it watched; then it is not claimed.
  EXPECT_THAT(text, AnyOf(HasSubstr("OOM-killed (1"),
                          HasSubstr("not known whether by OOM (the machine's count of OOM kills")));
}

TEST_P(EngineEnd, C099AChildsOomShowsAlthoughTheServiceLives) {
  ServiceSpec spec = Spec({"--sleep=4000", "--child-touch=64", "--port={port}"},
                          {.memory = 16_MiB, .memory_swap = 16_MiB});
  spec.ready = AtOnce();
  const auto service = StartService(spec);
  ASSERT_TRUE(Eventually([&] { return service->logs().find("listening") != std::string::npos; }));
  EXPECT_TRUE(service->alive());
  EXPECT_GE(service->Stop().oom_kills.value_or(-1), 1);
}

TEST_P(EngineEnd, C105TheGraceTimeBoundsAStop) {
  ServiceSpec spec = Spec({"--ignore-term", "--port={port}"});
  spec.stop_grace = milliseconds(300);
  const auto service = StartService(spec);
  const auto began = steady_clock::now();
  const ExitReport report = service->Stop();
  EXPECT_LT(steady_clock::now() - began, seconds(9)) << "an engine's own grace is 10 s";
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_EQ(report.ToString(), "ran until it was stopped") << "not a crash of the service";
}

TEST_P(EngineEnd, C103TwoServicesOfOneSpecDoNotMeet) {
  const ServiceSpec spec = Spec({"--port={port}"});
  const auto one = StartService(spec);
  const auto two = StartService(spec);
  EXPECT_NE(one->port(), two->port());
  one->Stop();
  EXPECT_TRUE(two->alive());
  EXPECT_EQ(two->Trouble(), "");
}

TEST_P(EngineEnd, RemovalBehindOurBackIsNoError) {
  const auto service = StartService(Spec({"--port={port}"}));
  for (const std::string& thing : ThingsOf(GetParam(), ::getpid())) {
    if (thing.rfind("ps ", 0) != 0) continue;
    Engine().Call({"kill", "--signal", "KILL", thing.substr(3)});
    Engine().Call({"rm", "--force", thing.substr(3)});
  }
  ASSERT_TRUE(Eventually([&] { return !service->alive(); }));
  const ExitReport report = service->Stop();
  EXPECT_FALSE(report.stopped_by_us);
  EXPECT_EQ(report.exit_code, std::nullopt);
}

TEST_P(EngineEnd, C101WhatADeadOwnerLeftIsSwept) {
  // A process that makes a container and dies without its watcher.
  internal::Owner dead = internal::Owner::Self();
  dead.start_ticks -= 1;
  const std::string name = "throttletest-" + dead.ToString() + "-1";
  const internal::UniqueFd archive = internal::BuildProgramArchive(TOY_SERVICE, {});
  ASSERT_TRUE(
      Engine().Call(internal::ImportCall(GetParam(), name), {.stdin_fd = archive.get()}).ok());
  ASSERT_TRUE(Engine()
                  .Call({"create", "--label", internal::OwnLabel(), "--label",
                         internal::UserLabel(), "--name", name, name, TOY_SERVICE})
                  .ok());
  const std::string engine = LauncherName(GetParam());
  EXPECT_THAT(internal::SweepEngineLeftovers(GetParam()),
              ::testing::IsSupersetOf({engine + " container " + name, engine + " image " + name}));
}

TEST_P(EngineEnd, APublishedPortIsTheOneAskedFor) {
  internal::LaunchRequest request;
  request.command = {TOY_SERVICE, "--port=8080"};
  request.port = internal::PickPort();
  request.container_port = 8080;
  const auto launch =
      GetParam() == LauncherKind::kDocker ? internal::LaunchInDocker : internal::LaunchInPodman;
  try {
    EXPECT_TRUE(launch(request)->Running());
  } catch (const Error& e) {
    // An engine without a bridge (netavark, CNI or iptables missing) says so.
    EXPECT_EQ(e.code(), ErrorCode::kServiceStart);
    GTEST_SKIP() << e.what();
  }
}

}  // namespace
}  // namespace throttletest::test
