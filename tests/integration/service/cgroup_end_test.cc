// How services end: by themselves, by a stop, by memory, by force; and that nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "service_support.h"
#include "throttletest/base/error.h"

namespace throttletest::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CgroupEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override { EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty()); }

  // Polls until the main process has ended.
  static void AwaitEnd(const Service& service) {
    const auto end = steady_clock::now() + seconds(20);
    while (service.alive() && steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(5));
    }
  }
};

TEST_F(CgroupEnd, StopReportsARunningServiceAsStopped) {
  const auto service = StartService(Toy({"--print=hello", "--port={port}"}));
  const pid_t pid = service->pid();
  const ExitReport report = service->Stop();
  EXPECT_TRUE(report.stopped_by_us);
  EXPECT_EQ(report.signal, SIGTERM);
  EXPECT_EQ(report.oom_kills, 0);
  EXPECT_THAT(report.logs, HasSubstr("hello"));
  EXPECT_EQ(report.ToString(), "ran until it was stopped");
  EXPECT_FALSE(ProcessLives(pid));
  EXPECT_EQ(service->Stop().logs, report.logs) << "a second Stop() gives the same report";
}

TEST_F(CgroupEnd, AnExitWhileRunningIsTrouble) {
  ServiceSpec spec = Toy({"--print=up", "--sleep=200", "--exit=3"});
  spec.ready = Wrote("up");
  const auto service = StartService(spec);
  AwaitEnd(*service);
  EXPECT_EQ(service->Trouble(), "exited with status 3");
  const ExitReport report = service->Stop();
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_FALSE(report.stopped_by_us);
}

TEST_F(CgroupEnd, C096AKillWithoutOomIsNotCalledOom) {
  const auto service = StartService(Toy({"--port={port}"}, {.memory = 64_MiB}));
  ::kill(service->pid(), SIGKILL);
  AwaitEnd(*service);
  EXPECT_EQ(service->Stop().ToString(), "killed by SIGKILL, no OOM recorded");
}

TEST_F(CgroupEnd, C098OomEvidenceIsReadBeforeTheCgroupGoes) {
  ServiceSpec spec =
      Toy({"--print=up", "--sleep=300", "--touch=64"}, {.memory = 16_MiB, .memory_swap = 16_MiB});
  spec.ready = Wrote("up");
  const auto service = StartService(spec);
  AwaitEnd(*service);
  const ExitReport report = service->Stop();
  EXPECT_EQ(report.oom_kills, 1);
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_EQ(report.ToString(), "OOM-killed (1 kill)");
}

TEST_F(CgroupEnd, C098OomBeforeReadyIsTheReason) {
  ErrorCode code{};
  const std::string text = StartError(
      Toy({"--touch=64", "--port={port}"}, {.memory = 16_MiB, .memory_swap = 16_MiB}), &code);
  EXPECT_EQ(code, ErrorCode::kNotReady);
  EXPECT_THAT(text, HasSubstr("OOM-killed (1"));
}

TEST_F(CgroupEnd, C099AChildsOomShowsAlthoughTheServiceLives) {
  ServiceSpec spec = Toy({"--print=up", "--sleep=300", "--child-touch=64", "--port={port}"},
                         {.memory = 16_MiB, .memory_swap = 16_MiB});
  spec.ready = Wrote("up");
  const auto service = StartService(spec);
  while (service->logs().find("listening") == std::string::npos && service->alive()) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(service->alive());
  EXPECT_EQ(service->cgroup().Read().memory.oom_kills, 1);
  const ExitReport report = service->Stop();
  EXPECT_EQ(report.oom_kills, 1);
  EXPECT_EQ(report.ToString(), "ran until it was stopped, a process of it was OOM-killed (1 kill)");
}

TEST_F(CgroupEnd, TheSmallestMemoryLimitHoldsAProgram) {
  const auto service =
      StartService(Toy({"--port={port}"}, {.memory = 6_MiB, .memory_swap = 6_MiB}));
  EXPECT_EQ(service->cgroup().Read().memory.limit, 6_MiB);
}

TEST_F(CgroupEnd, C100ChildrenThatIgnoreSigtermAreKilled) {
  ServiceSpec spec = Toy({"--fork=50", "--port={port}"});
  spec.stop_grace = milliseconds(100);
  const auto service = StartService(spec);
  const std::vector<pid_t> all = service->cgroup().Processes();
  EXPECT_EQ(all.size(), 51U);
  service->Stop();
  for (const pid_t pid : all) EXPECT_FALSE(ProcessLives(pid)) << pid;
  EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty());
}

TEST_F(CgroupEnd, C105TheGraceTimeBoundsAStop) {
  ServiceSpec spec = Toy({"--ignore-term", "--port={port}"});
  spec.stop_grace = milliseconds(300);
  const auto service = StartService(spec);
  const auto began = steady_clock::now();
  const ExitReport report = service->Stop();
  const auto took = steady_clock::now() - began;
  EXPECT_GE(took, milliseconds(300));
  EXPECT_LT(took, seconds(5));
  EXPECT_EQ(report.signal, SIGKILL);
  EXPECT_EQ(report.ToString(), "ran until it was stopped") << "not a crash of the service";
}

TEST_F(CgroupEnd, C089AMoveToAnotherCgroupIsTrouble) {
  const auto service = StartService(Toy({"--port={port}"}));
  // To where this test is, as a service manager might.
  const std::string home = LocateCgroup(::getpid()).cpu->directory();
  {
    std::ofstream procs(home + "/cgroup.procs");
    procs << service->pid() << std::flush;
    ASSERT_TRUE(procs.good());
  }
  EXPECT_THAT(service->Trouble(), HasSubstr("is in cpu cgroup"));
  service->Stop();
  EXPECT_FALSE(ProcessLives(service->pid())) << "also ended where it was moved to";
}

TEST_F(CgroupEnd, C093AReadAfterTheEndIsAnErrorNotANumber) {
  const auto service = StartService(Toy({"--port={port}"}));
  service->Stop();
  EXPECT_THROW(service->cgroup().Read(), Error);
  EXPECT_THAT(service->Trouble(), HasSubstr("ran until it was stopped"));
}

TEST_F(CgroupEnd, AServiceThatWritesWithoutEndIsNeitherBlockedNorKept) {
  ServiceSpec spec = Toy({"--flood=4096", "--port={port}"});
  const auto service = StartService(spec);
  const std::string logs = service->logs();
  EXPECT_LE(logs.size(), 64U * 1024U);
  EXPECT_THAT(logs, HasSubstr("flood done"));
}

TEST_F(CgroupEnd, TheServiceHasNoDescriptorsOfOurs) {
  int leak[2];
  ASSERT_EQ(::pipe(leak), 0);  // on purpose without O_CLOEXEC
  const auto service = StartService(Toy({"--port={port}"}));
  std::vector<std::string> open;
  // The connection that found it ready may still be open for a moment.
  for (int i = 0; i < 100 && open.size() != 4; ++i) {
    if (i > 0) std::this_thread::sleep_for(milliseconds(20));
    open.clear();
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(service->pid()) + "/fd")) {
      open.push_back(entry.path().filename());
    }
  }
  EXPECT_THAT(open, ::testing::UnorderedElementsAre("0", "1", "2", "3")) << "3 is its socket";
  ::close(leak[0]);
  ::close(leak[1]);
}

TEST_F(CgroupEnd, AServiceOutlivesTheThreadThatStartedIt) {
  std::unique_ptr<Service> service;
  std::thread([&] { service = StartService(Toy({"--port={port}"})); }).join();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(service->alive());
}

TEST_F(CgroupEnd, C103TwoServicesOfOneSpecDoNotMeet) {
  const ServiceSpec spec = Toy({"--port={port}"});
  const auto one = StartService(spec);
  const auto two = StartService(spec);
  EXPECT_NE(one->port(), two->port());
  EXPECT_NE(one->cgroup().location().cpu->relative_path,
            two->cgroup().location().cpu->relative_path);
  one->Stop();
  EXPECT_TRUE(two->alive());
  EXPECT_EQ(two->Trouble(), "");
}

}  // namespace
}  // namespace throttletest::test
