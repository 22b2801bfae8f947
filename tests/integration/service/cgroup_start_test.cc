// Starting services: ready, not ready and why, on ports that others take.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/unique_fd.h"
#include "service/port.h"
#include "service_support.h"
#include "throttletest/base/error.h"

namespace throttletest::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CgroupStart : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override { EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty()); }
};

// Listens on a port of 127.0.0.1, as a stranger would.
internal::UniqueFd Occupy(std::uint16_t port) {
  internal::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd.get(), 8) != 0) {
    fd.Reset();
  }
  return fd;
}

TEST_F(CgroupStart, AMissingProgramIsNamed) {
  ServiceSpec spec = Toy({});
  spec.command = {"burn_servr", "--port={port}"};
  EXPECT_THAT(StartError(spec), HasSubstr("burn_servr: not found in PATH"));
}

TEST_F(CgroupStart, AFileThatCannotRunIsNamed) {
  ServiceSpec spec = Toy({});
  spec.command = {"/etc/passwd"};
  EXPECT_THAT(StartError(spec), HasSubstr("/etc/passwd: is not an executable file"));
}

TEST_F(CgroupStart, ExitAtOnceFailsFastWithStatusAndLog) {
  const auto began = std::chrono::steady_clock::now();
  ErrorCode code{};
  const std::string text = StartError(Toy({"--print=bad config", "--exit=3"}), &code);
  EXPECT_EQ(code, ErrorCode::kNotReady);
  EXPECT_THAT(text, AllOf(HasSubstr("exited with status 3 before it was ready"),
                          HasSubstr("bad config"), HasSubstr("GET / answers 200")));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(10));
}

TEST_F(CgroupStart, NeverListeningTimesOutWithTheLastAnswer) {
  ServiceSpec spec = Toy({"--print=no port today", "--sleep=60000", "--print-env={port}"});
  spec.ready = HttpReady("/healthz").Within(milliseconds(300));
  ErrorCode code{};
  const std::string text = StartError(spec, &code);
  EXPECT_EQ(code, ErrorCode::kNotReady);
  EXPECT_THAT(text, AllOf(HasSubstr("not ready within 300 ms"), HasSubstr("connection refused"),
                          HasSubstr("GET /healthz answers 200"), HasSubstr("no port today")));
  EXPECT_THAT(text, Not(HasSubstr("hold no {port}")));
}

TEST_F(CgroupStart, ACommandWithoutThePortIsHintedAt) {
  ServiceSpec spec = Toy({"--sleep=60000"});
  spec.ready = HttpReady("/healthz").Within(milliseconds(200));
  EXPECT_THAT(StartError(spec), HasSubstr("hold no {port}"));
}

TEST_F(CgroupStart, ListeningLateIsWaitedFor) {
  const auto service = StartService(Toy({"--sleep=400", "--port={port}"}));
  EXPECT_TRUE(service->alive());
}

TEST_F(CgroupStart, AnErrorStatusIsNotReady) {
  ServiceSpec spec = Toy({"--status=500", "--port={port}"});
  spec.ready = HttpReady("/healthz").Within(seconds(1));
  EXPECT_THAT(StartError(spec), HasSubstr("last answer: GET /healthz answered 500"));
  spec.ready = HttpReady("/healthz", 500).Within(seconds(20));
  EXPECT_EQ(StartError(spec), "");
}

TEST_F(CgroupStart, C109ALogLineBeforeThePortIsNotReady) {
  ServiceSpec spec = Toy({"--print=now listening", "--sleep=500", "--port={port}"});
  spec.ready = LogLineReady("now listening").Within(seconds(20));
  const auto service = StartService(spec);
  EXPECT_THAT(service->logs(), HasSubstr("listening on"));
}

TEST_F(CgroupStart, C110StableOutlastsAServiceThatBlinks) {
  ServiceSpec spec = Toy({"--blink={port}"});
  spec.ready = HttpReady("/").Stable(3).Within(seconds(20));
  const auto service = StartService(spec);
  // Listening for the second time when it was called ready: nothing is accepted during the first.
  EXPECT_EQ(spec.ready.Try({.host = "127.0.0.1", .port = service->port()}), "");
}

TEST_F(CgroupStart, C111AnAcceptedConnectionThatClosesIsNotReady) {
  ServiceSpec spec = Toy({"--close-first=3", "--port={port}"});
  for (const Readiness& ready : {HttpReady("/"), TcpReady()}) {
    spec.ready = ready.Within(seconds(20));
    EXPECT_EQ(StartError(spec), "");
  }
  spec.command[1] = "--close-first=1000000";
  spec.ready = HttpReady("/").Within(seconds(1));
  EXPECT_THAT(StartError(spec), HasSubstr("closed"));
  spec.ready = TcpReady().Within(seconds(1));
  EXPECT_THAT(StartError(spec), HasSubstr("closed it at once"));
}

TEST_F(CgroupStart, C115AStrangerOnTheServicesFixedPortIsNotMeasured) {
  // The service takes a port of its own choice, which a stranger has.
  const std::uint16_t port = internal::PickPort();
  const auto stranger = Occupy(port);
  ASSERT_TRUE(stranger.valid());
  const std::string text = StartError(Toy({"--port=" + std::to_string(port)}));
  EXPECT_THAT(text, AllOf(HasSubstr("exited with status 4"), HasSubstr("Address already in use")));
}

TEST_F(CgroupStart, C115AStrangerIsTold) {
  const std::uint16_t port = internal::PickPort();
  const auto stranger = Occupy(port);
  ASSERT_TRUE(stranger.valid());
  const std::string who = internal::FindStranger(port, {});
  EXPECT_THAT(who, HasSubstr("process " + std::to_string(::getpid()) + " ("));
  EXPECT_EQ(internal::FindStranger(port, {::getpid()}), "");
  const auto service = StartService(Toy({"--port={port}"}));
  EXPECT_EQ(internal::FindStranger(service->port(), service->cgroup().Processes()), "");
  EXPECT_THAT(internal::FindStranger(service->port(), {::getpid()}), HasSubstr("toy_service"));
}

TEST_F(CgroupStart, C115ATakenPortIsReplacedByAnother) {
  // The check takes the port that was picked, the first time it is asked.
  internal::UniqueFd stranger;
  std::uint16_t taken = 0;
  ServiceSpec spec = Toy({"--sleep=300", "--port={port}"});
  spec.ready = CallableReady("answers", [&](const ReadinessTarget& target) {
                 if (taken == 0) {
                   taken = target.port;
                   stranger = Occupy(target.port);
                 }
                 return HttpReady("/").Try(target).empty();
               }).Within(seconds(20));
  const auto service = StartService(spec);
  ASSERT_TRUE(stranger.valid());
  EXPECT_NE(service->port(), taken);
  EXPECT_TRUE(service->alive());
}

TEST_F(CgroupStart, AStopRequestInterruptsTheWait) {
  std::stop_source stop;
  ServiceSpec spec = Toy({"--sleep=60000"});
  std::jthread later([&] {
    std::this_thread::sleep_for(milliseconds(150));
    stop.request_stop();
  });
  try {
    StartService(spec, stop.get_token());
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInterrupted);
  }
}

TEST_F(CgroupStart, EnvironmentAndPortReachTheService) {
  ServiceSpec spec = Toy({"--print-env=TOY_PORT", "--print-env=TOY_SECRET", "--port={port}"});
  spec.env["TOY_PORT"] = "at {port}";
  spec.secret_env["TOY_SECRET"] = "s3cret";
  const auto service = StartService(spec);
  EXPECT_THAT(service->logs(), AllOf(HasSubstr("TOY_PORT=at " + std::to_string(service->port())),
                                     HasSubstr("TOY_SECRET=s3cret")));
}

}  // namespace
}  // namespace throttletest::test
