// What can be attached to, and under which limits it is then said to be.
#include "throttletest/service/attach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "service/attach_process.h"
#include "service/attached_instance.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string Refusal(const std::function<void()>& act) {
  try {
    act();
    return "accepted";
  } catch (const Error& error) {
    return std::string(ErrorCodeName(error.code())) + ": " + error.what();
  }
}

TEST(AttachTarget, SaysWhatItIs) {
  EXPECT_EQ(RunningProcess(4242).ToString(), "process 4242");
  EXPECT_EQ(RunningContainer("web").ToString(), "container web");
  EXPECT_EQ(RunningContainer("web", LauncherKind::kPodman).ToString(), "podman container web");
  EXPECT_EQ(RunningCgroup("/sys/fs/cgroup/a").ToString(), "cgroup /sys/fs/cgroup/a");
}

TEST(AttachTarget, RefusesWhatCannotBeQuotingIt) {
  EXPECT_EQ(Refusal([] { RunningProcess(0); }),
            "invalid_argument: process 0 is not possible: write a number of 1 or more");
  for (const char* name : {"", "-v", "--rm", "a b", "a/b", "../x", "a\nb"}) {
    EXPECT_THAT(Refusal([&] { RunningContainer(name); }),
                HasSubstr("invalid_argument: \"" + std::string(name) + "\" is not a container's"));
  }
  EXPECT_THAT(Refusal([] { RunningContainer("web", LauncherKind::kCgroup); }),
              HasSubstr("\"cgroup\" is not a container engine"));
  for (const char* path : {"", "a/b"}) {
    EXPECT_THAT(Refusal([&] { RunningCgroup(path); }),
                HasSubstr("cgroup \"" + std::string(path) + "\" does not start with '/'"));
  }
}

TEST(AttachService, RefusesAReadinessThatNeedsAPortWithoutOne) {
  EXPECT_EQ(Refusal([] { AttachService({.target = RunningProcess(1), .ready = HttpReady("/")}); }),
            "invalid_argument: readiness \"GET / answers 200\" looks at a port: give "
            "AttachSpec::port");
}

TEST(WhyNoService, NamesEachReason) {
  using internal::ProcessStat;
  EXPECT_EQ(internal::WhyNoService(std::nullopt), "there is no such process");
  EXPECT_THAT(
      internal::WhyNoService(ProcessStat{.state = 'S', .threads = 1, .kernel_thread = true}),
      HasSubstr("thread of the kernel"));
  EXPECT_THAT(internal::WhyNoService(ProcessStat{.state = 'Z', .threads = 1}), HasSubstr("zombie"));
  EXPECT_EQ(internal::WhyNoService(ProcessStat{.state = 'S', .threads = 1}), "");
}

// Limits of a chain as they are found.
Snapshot Found() {
  Snapshot snapshot;
  snapshot.online = CpuSet({0, 1, 2, 3});
  snapshot.cpu.push_back({.path = "/pod/web", .bandwidth = CpuBandwidth{200ms, 100ms}});
  snapshot.cpu.push_back({.path = "/pod", .bandwidth = CpuBandwidth{50ms, 50ms}});
  return snapshot;
}

TEST(LimitsIn, AreThoseThatBindWhereverTheyAre) {
  EXPECT_EQ(internal::LimitsIn(Found()), (ResolvedLimits{.cpu = CpuBandwidth{50ms, 50ms}}));
}

TEST(LimitsIn, HoldTheCpusetOnlyWhereItIsNotTheWholeMachine) {
  Snapshot snapshot = Found();
  snapshot.cpuset = CpuSet({0, 1, 2, 3, 4});
  EXPECT_EQ(internal::LimitsIn(snapshot).cpuset, std::nullopt);
  snapshot.cpuset = CpuSet({0, 2});
  EXPECT_EQ(internal::LimitsIn(snapshot).cpuset, CpuSet({0, 2}));
}

TEST(LimitsIn, HoldTheMemoryLimitWhenThereIsOne) {
  Snapshot snapshot = Found();
  snapshot.memory.limit = ByteSize::Unlimited();
  snapshot.memory.swap_limit = ByteSize::Unlimited();
  EXPECT_EQ(internal::LimitsIn(snapshot).memory, std::nullopt);
  snapshot.memory.limit = 64_MiB;
  EXPECT_EQ(internal::LimitsIn(snapshot).memory, 64_MiB);
  EXPECT_EQ(internal::LimitsIn(snapshot).memory_and_swap, std::nullopt);
  snapshot.memory.swap_limit = 128_MiB;
  EXPECT_EQ(internal::LimitsIn(snapshot).memory_and_swap, 128_MiB);
}

TEST(LimitsIn, AreNoneWithoutAny) {
  Snapshot snapshot;
  snapshot.online = CpuSet({0});
  EXPECT_EQ(internal::LimitsIn(snapshot), ResolvedLimits{});
}

}  // namespace
}  // namespace throttletest
