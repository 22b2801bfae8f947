#include "service/engine_inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "service/engine_instance.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One container as both engines describe it, with `host` as HostConfig and `state` as State.
std::string Container(const std::string& state, const std::string& host = "{}",
                      const std::string& ports = "{}") {
  return R"([{"Id": "f00d", "State": )" + state + R"(, "HostConfig": )" + host +
         R"(, "NetworkSettings": {"Ports": )" + ports + "}}]";
}
constexpr const char* kRuns = R"({"Status": "running", "Running": true, "Pid": 4711,
  "ExitCode": 0, "OOMKilled": false, "Error": ""})";

TEST(EngineInspect, ARunningContainerHasNoExitCode) {
  const ContainerState state = ParseInspect(Container(kRuns));
  EXPECT_EQ(state.id, "f00d");
  EXPECT_TRUE(state.running);
  EXPECT_EQ(state.pid, 4711);
  EXPECT_EQ(state.exit_code, std::nullopt);
  EXPECT_EQ(state.oom_killed, false);
}

TEST(EngineInspect, AnEndedContainerTellsHow) {
  const ContainerState state = ParseInspect(Container(
      R"({"Status": "exited", "Running": false, "Pid": 0, "ExitCode": 137, "OOMKilled": true})"));
  EXPECT_FALSE(state.running);
  EXPECT_EQ(state.exit_code, 137);
  EXPECT_EQ(state.oom_killed, true);
}

TEST(EngineInspect, ACreatedContainerHasNotExitedWithZero) {
  const ContainerState state = ParseInspect(
      Container(R"({"Status": "created", "Running": false, "Pid": 0, "ExitCode": 0})"));
  EXPECT_EQ(state.exit_code, std::nullopt);
  EXPECT_EQ(state.oom_killed, std::nullopt) << "not said is not \"no\"";
}

struct CpusCase {
  const char* name;
  const char* host;
  std::optional<double> cpus;
};

class EngineInspectCpus : public ::testing::TestWithParam<CpusCase> {};

TEST_P(EngineInspectCpus, C051IsReadFromWhicheverFieldIsSet) {
  const auto cpus = ParseInspect(Container(kRuns, GetParam().host)).cpus;
  ASSERT_EQ(cpus.has_value(), GetParam().cpus.has_value());
  EXPECT_NEAR(cpus.value_or(-1), GetParam().cpus.value_or(-1), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, EngineInspectCpus,
    ::testing::Values(
        CpusCase{"Nano", R"({"NanoCpus": 1500000000, "CpuQuota": 0, "CpuPeriod": 0})", 1.5},
        CpusCase{"Quota", R"({"NanoCpus": 0, "CpuQuota": 150000, "CpuPeriod": 100000})", 1.5},
        CpusCase{"None", R"({"NanoCpus": 0, "CpuQuota": 0, "CpuPeriod": 0})", std::nullopt},
        CpusCase{"Lifted", R"({"NanoCpus": 0, "CpuQuota": -1, "CpuPeriod": 100000})", std::nullopt},
        CpusCase{"NoPeriod", R"({"CpuQuota": 50000})", 0.5},
        CpusCase{"C031Nano", R"({"NanoCpus": 2})", 2e-9},
        CpusCase{"C031Cpus", R"({"NanoCpus": 2000000000})", 2.0}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(EngineInspect, C031ARecordThatIsNotTheRequestIsASetupError) {
  CpuBandwidth requested;
  requested.quota = std::chrono::microseconds(200000);
  ContainerState state;
  state.cpus = 2e-9;
  EXPECT_EQ(RecordedLimitDifference("docker", requested, state),
            "docker recorded 2e-09 CPUs, requested 2 CPUs");
  state.cpus = 2.0;
  EXPECT_EQ(RecordedLimitDifference("docker", requested, state), "");
}

TEST(EngineInspect, C053ADroppedLimitIsASetupError) {
  CpuBandwidth requested;
  requested.quota = std::chrono::microseconds(50000);
  EXPECT_EQ(RecordedLimitDifference("podman", requested, ContainerState{}),
            "podman recorded no CPU limit, requested 0.5 CPUs");
  EXPECT_EQ(RecordedLimitDifference("podman", CpuBandwidth{}, ContainerState{}), "");
}

TEST(EngineInspect, C113TheIpv4PortIsUsed) {
  const ContainerState state = ParseInspect(Container(kRuns, "{}", R"({"8080/tcp": [
      {"HostIp": "::", "HostPort": "32769"}, {"HostIp": "0.0.0.0", "HostPort": "32768"}],
      "9090/tcp": null})"));
  EXPECT_EQ(state.HostPort(8080), 32768);
  EXPECT_EQ(state.HostPort(9090), std::nullopt);
  EXPECT_EQ(state.HostPort(80), std::nullopt);
}

TEST(EngineInspect, WhatIsNotAContainerIsRefusedWithItsText) {
  for (const char* text : {"", "[]", "{}", "Error: no such container", R"([{"Id": "x"}])",
                           R"([{"State": {"Running": true}}])"}) {
    EXPECT_THROW(ParseInspect(text), Error) << text;
  }
  try {
    ParseInspect("oops");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    EXPECT_THAT(e.what(), HasSubstr("oops"));
  }
}

TEST(EngineInspect, FieldsOfAnotherTypeAreNotGuessed) {
  const ContainerState state =
      ParseInspect(Container(R"({"Running": true, "Pid": "12", "OOMKilled": "no"})"));
  EXPECT_EQ(state.pid, 0);
  EXPECT_EQ(state.oom_killed, std::nullopt);
}

TEST(EngineInspect, ExitCodesAbove128AreSignals) {
  EXPECT_EQ(ReportOf(137).signal, 9);
  EXPECT_EQ(ReportOf(137).exit_code, std::nullopt);
  EXPECT_EQ(ReportOf(3).exit_code, 3);
  EXPECT_EQ(ReportOf(255).exit_code, 255);
  EXPECT_EQ(ReportOf(128).exit_code, 128);
  EXPECT_EQ(ReportOf(std::nullopt).exit_code, std::nullopt);
}

TEST(EngineInfo, OfDocker) {
  const EngineInfo info = ParseDockerInfo(R"({"ServerVersion": "20.10.24+dfsg1",
      "CgroupDriver": "systemd", "CgroupVersion": "2", "OperatingSystem": "Debian GNU/Linux 12",
      "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]})");
  EXPECT_EQ(info.version, "20.10.24+dfsg1");
  EXPECT_EQ(info.cgroup_driver, "systemd");
  EXPECT_EQ(info.cgroup_version, 2);
  EXPECT_TRUE(info.rootless);
  EXPECT_EQ(info.refusal, "");
}

TEST(EngineInfo, OfADockerThatRefusesUsItSaysSo) {
  // It exits with 0 all the same.
  const EngineInfo info = ParseDockerInfo(R"({"ServerErrors": ["permission denied while trying"],
      "ServerVersion": "", "ClientInfo": {}})");
  EXPECT_EQ(info.refusal, "permission denied while trying");
}

TEST(EngineInfo, OfPodman) {
  const EngineInfo info = ParsePodmanInfo(R"({"host": {"cgroupManager": "cgroupfs",
      "cgroupVersion": "v1", "cgroupControllers": ["cpu", "memory"], "serviceIsRemote": true,
      "ociRuntime": {"name": "crun"}, "security": {"rootless": true}},
      "version": {"Version": "4.3.1"}})");
  EXPECT_EQ(info.version, "4.3.1");
  EXPECT_EQ(info.cgroup_driver, "cgroupfs");
  EXPECT_EQ(info.cgroup_version, 1);
  EXPECT_EQ(info.runtime, "crun");
  EXPECT_TRUE(info.rootless);
  EXPECT_TRUE(info.remote);
  EXPECT_THAT(info.controllers, ElementsAre("cpu", "memory"));
}

TEST(EngineInfo, ThatSaysNothingIsNotAnError) {
  EXPECT_EQ(ParseDockerInfo("{}").cgroup_version, 0);
  EXPECT_NE(ParseDockerInfo("{}").refusal, "");
  EXPECT_FALSE(ParsePodmanInfo("{}").rootless);
  EXPECT_THROW(ParseDockerInfo("Cannot connect"), Error);
}

}  // namespace
}  // namespace throttletest::internal
