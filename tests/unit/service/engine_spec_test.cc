#include "service/engine_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "service/engine_sweep.h"
#include "service/owner.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kDocker = LauncherKind::kDocker;
constexpr auto kPodman = LauncherKind::kPodman;

EngineInfo Info(int cgroup_version) {
  EngineInfo info;
  info.version = "1.2.3";
  info.cgroup_driver = "cgroupfs";
  info.cgroup_version = cgroup_version;
  info.runtime = "crun";
  return info;
}

TEST(EngineLimits, AnEngineOfRootHasNoLack) {
  EXPECT_EQ(LimitLack(kDocker, Info(1)), "");
  EXPECT_EQ(LimitLack(kPodman, Info(2)), "");
}

TEST(EngineLimits, AVirtualMachineIsRefusedByName) {
  EngineInfo info = Info(2);
  info.operating_system = "Docker Desktop";
  EXPECT_THAT(LimitLack(kDocker, info), HasSubstr("Docker Desktop runs containers in a virtual"));
}

TEST(EngineLimits, ARemoteClientIsRefused) {
  EngineInfo info = Info(2);
  info.remote = true;
  EXPECT_THAT(LimitLack(kPodman, info), HasSubstr("another machine"));
}

TEST(EngineLimits, RootlessOnV1CannotLimit) {
  EngineInfo info = Info(1);
  info.rootless = true;
  EXPECT_THAT(LimitLack(kPodman, info),
              HasSubstr("rootless podman cannot set limits on cgroup v1"));
  EXPECT_THAT(LimitLack(kDocker, info),
              HasSubstr("rootless docker cannot set limits on cgroup v1"));
}

TEST(EngineLimits, C083MissingDelegationGivesTheAdvice) {
  EngineInfo info = Info(2);
  info.rootless = true;
  info.controllers = {"memory", "pids"};
  EXPECT_THAT(LimitLack(kPodman, info), HasSubstr("Delegate=cpu cpuset io memory pids"));
  info.controllers = {"cpu", "memory", "pids"};
  EXPECT_EQ(LimitLack(kPodman, info), "");
}

TEST(EngineLimits, ADriverOfNoneIgnoresLimits) {
  EngineInfo info = Info(2);
  info.cgroup_driver = "none";
  EXPECT_THAT(LimitLack(kDocker, info), HasSubstr("ignores limits"));
}

TEST(EngineEndpoint, OnlySocketsOfThisMachineAreLocal) {
  EXPECT_TRUE(IsLocalEndpoint("unix:///var/run/docker.sock"));
  for (const char* remote : {"tcp://127.0.0.1:2375", "ssh://me@host", "npipe:////./pipe", ""}) {
    EXPECT_FALSE(IsLocalEndpoint(remote)) << remote;
  }
}

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(EngineEndpoint, ARemoteOneNeedsAnExplicitOption) {
  if (RunCommand({"sh", "-c", "command -v docker"}).out.empty())
    GTEST_SKIP() << "no docker command";
  // Nothing may be sent there: 192.0.2.1 is reserved for documentation.
  const Variable host("DOCKER_HOST", "tcp://192.0.2.1:2375");
  try {
    OpenEngine(kDocker);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(e.what(), HasSubstr("tcp://192.0.2.1:2375"));
    EXPECT_THAT(e.what(), HasSubstr("THROTTLETEST_ALLOW_REMOTE_ENGINE=1"));
  }
}

EngineHost PlainHost() {
  EngineHost host;
  host.systemd_runs = true;
  return host;
}

TEST(Podman, NeedsNothingSpecialOnAUsualHost) {
  const Engine engine = AdaptPodman(Info(2), PlainHost());
  EXPECT_THAT(engine.global_options, IsEmpty());
  EXPECT_THAT(engine.run_options, ElementsAre("--log-driver", "k8s-file"));
  EXPECT_EQ(engine.version(), "podman 1.2.3 (cgroupfs)");
}

TEST(Podman, ItsCgroupManagerIsCgroupfsWithoutSystemd) {
  EngineHost host = PlainHost();
  host.systemd_runs = false;
  EngineInfo info = Info(2);
  info.cgroup_driver = "systemd";
  const Engine engine = AdaptPodman(info, host);
  EXPECT_THAT(engine.global_options, ElementsAre("--cgroup-manager", "cgroupfs"));
  EXPECT_EQ(engine.version(), "podman 1.2.3 (cgroupfs)");
}

TEST(Podman, IsDescribedWithItsDriverAndRuntime) {
  EngineInfo info = Info(2);
  info.rootless = true;
  EXPECT_EQ(AdaptPodman(info, PlainHost()).Describe(),
            "podman 1.2.3, cgroup driver cgroupfs, runtime crun, rootless");
  EngineHost hybrid = PlainHost();
  hybrid.hybrid_cgroups = true;
  hybrid.runc = "/usr/sbin/runc";
  EXPECT_THAT(AdaptPodman(Info(1), hybrid).Describe(), HasSubstr("runtime runc"));
}

TEST(Podman, CrunIsReplacedOnHybridHosts) {
  EngineHost host = PlainHost();
  host.hybrid_cgroups = true;
  host.runc = "/usr/sbin/runc";
  EXPECT_THAT(AdaptPodman(Info(1), host).global_options,
              ElementsAre("--runtime", "/usr/sbin/runc"));
  EngineInfo runc = Info(1);
  runc.runtime = "runc";
  EXPECT_THAT(AdaptPodman(runc, host).global_options, IsEmpty());
  host.runc = "";
  try {
    AdaptPodman(Info(1), host);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("crun refuses the hybrid"));
    EXPECT_THAT(e.what(), HasSubstr("install runc"));
  }
}

TEST(Podman, KeepsTheHardLimitsItMayNotRaise) {
  EngineHost host = PlainHost();
  host.may_raise_limits = false;
  host.hard_open_files = 20000;
  host.hard_processes = 32768;
  EXPECT_THAT(AdaptPodman(Info(2), host).run_options,
              ElementsAre("--log-driver", "k8s-file", "--ulimit", "nofile=20000:20000", "--ulimit",
                          "nproc=32768:32768"));
  host.hard_processes = -1;
  EXPECT_THAT(AdaptPodman(Info(2), host).run_options,
              ElementsAre("--log-driver", "k8s-file", "--ulimit", "nofile=20000:20000"));
}

TEST(EngineSweep, OnlyNamesOfDeadOwnersAreLeftovers) {
  Owner dead = Owner::Self();
  dead.start_ticks += 1;  // the same number, another process
  const std::string dead_name = "throttletest-" + dead.ToString() + "-1";
  EXPECT_THAT(DeadNames("debian\n" + UniqueName() + "\nlocalhost/" + dead_name + "\n" + dead_name +
                        "\n<none>\nthrottletest-burn\n"),
              ElementsAre(dead_name, dead_name));
  EXPECT_THAT(DeadNames(""), IsEmpty());
}

TEST(Leftover, IsNamedWithItsEngine) {
  EXPECT_EQ((Leftover{Leftover::Kind::kContainer, kDocker, "x"}).ToString(), "docker container x");
  EXPECT_EQ((Leftover{Leftover::Kind::kImage, kPodman, "x"}).ToString(), "podman image x");
  EXPECT_EQ((Leftover{Leftover::Kind::kCgroup, LauncherKind::kCgroup, "/a"}).ToString(),
            "cgroup /a");
}

}  // namespace
}  // namespace throttletest::internal
