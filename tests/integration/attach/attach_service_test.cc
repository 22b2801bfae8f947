// Attaching to processes and cgroups of the real kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "foreign_service.h"
#include "integration/measure/disturb.h"
#include "integration/service/service_support.h"
#include "service/running_services.h"
#include "throttletest/cgroup/read_back.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/measure.h"
#include "throttletest/service/attach.h"

namespace throttletest::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const LoadPlan kPlan = Batches(8).Every(400ms).For(2s).WarmUp(0s);

class AttachToKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override { EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty()); }

  // Start lag and busy neighbours are the machine's affair; these tests are about everything else.
  static MeasureOptions Patient() {
    MeasureOptions options;
    options.bounds.start_lag_p99 = 10s;
    options.bounds.max_steal = options.bounds.max_others_cpu = 1;
    options.bounds.min_periods = 5;
    return options;
  }
  // Does `act` once during the load, after some requests.
  static MeasureOptions Meanwhile(std::function<void()> act) {
    MeasureOptions options = Patient();
    options.progress = [act = std::move(act), done = false](const MeasureProgress& p) mutable {
      if (done || std::strcmp(p.phase, "load") != 0 || p.done < 4) return;
      done = true;
      act();
    };
    return options;
  }
  static std::string Refusal(const AttachSpec& spec) {
    try {
      AttachService(spec);
      return "accepted";
    } catch (const Error& error) {
      return std::string(ErrorCodeName(error.code())) + ": " + error.what();
    }
  }
};

void ExpectFault(const Measurement& m, ValidityGate gate, const std::string& text) {
  EXPECT_THAT(m.validity.faults, ElementsAre(AllOf(Field(&ValidityFault::gate, gate),
                                                   Field(&ValidityFault::text, HasSubstr(text)))));
  for (const char* budget : {"throttle_ratio<=1", "p50<30s", "failed_requests<=100000"}) {
    EXPECT_EQ(ParseBudget(budget).Evaluate(m).verdict, Verdict::kInconclusive) << budget;
  }
}

TEST_F(AttachToKernel, SeesTheThrottlingOfAProcessAndLeavesItAsItWas) {
  const ForeignService foreign(30ms);
  const std::string procs = ReadFile(foreign.directory() + "/cgroup.procs");
  {
    const auto service =
        AttachService({.target = RunningProcess(foreign.pid()), .port = foreign.port()});
    EXPECT_EQ(service->launcher(), LauncherKind::kAttached);
    EXPECT_EQ(service->pid(), foreign.pid());
    EXPECT_EQ(service->requested().cpu, foreign.limits().cpu);
    const Measurement m = MeasureService(*service, kPlan, Get("/burn?ms=10"), Patient());
    EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
    EXPECT_GT(m.cgroup.throttle_ratio.value(), 0.3);
    EXPECT_EQ(m.quota(), foreign.limits().cpu);
    EXPECT_EQ(m.launcher_version, "process " + std::to_string(foreign.pid()) + " (burn_server)");
    const ExitReport report = service->Stop();
    EXPECT_TRUE(report.still_runs);
    EXPECT_FALSE(report.stopped_by_us);
    EXPECT_EQ(report.ToString(), "was left running");
  }
  EXPECT_TRUE(ProcessLives(foreign.pid()));
  EXPECT_EQ(TcpReady().Try({.host = "127.0.0.1", .port = foreign.port()}), "");
  EXPECT_EQ(ReadFile(foreign.directory() + "/cgroup.procs"), procs);
  EXPECT_THAT(CheckLimits(foreign.limits(), Cgroup::Open(foreign.location()).Read()).differences,
              IsEmpty());
}

TEST_F(AttachToKernel, FindsTheMainProcessOfACgroup) {
  const ForeignService foreign(50ms);
  const AttachSpec spec{.target = RunningCgroup(foreign.directory() + "/"),
                        .port = foreign.port(),
                        .ready = HttpReady("/healthz").Within(5s)};
  const auto service = AttachService(spec);
  EXPECT_EQ(service->pid(), foreign.pid());
  EXPECT_EQ(service->launcher_version(), "cgroup " + foreign.directory());
  EXPECT_EQ(service->cgroup().location().cpu, foreign.location().cpu);
  EXPECT_EQ(service->Trouble(), "");
}

TEST_F(AttachToKernel, AServiceThatIsKilledMeanwhileIsInconclusive) {
  ForeignService foreign(50ms);
  const auto service =
      AttachService({.target = RunningProcess(foreign.pid()), .port = foreign.port()});
  const auto start = std::chrono::steady_clock::now();
  const Measurement m = MeasureService(*service, kPlan.For(30s), Get("/burn?ms=1"),
                                       Meanwhile([&] { foreign.Kill(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s) << "the plan was driven to its end";
  ExpectFault(m, ValidityGate::kServiceGone, "ended, its exit status is not known");
  EXPECT_FALSE(service->alive());
  EXPECT_FALSE(service->Stop().still_runs);
}

TEST_F(AttachToKernel, AServiceThatIsStartedAgainMeanwhileIsInconclusive) {
  ForeignService foreign(100ms);
  const auto service =
      AttachService({.target = RunningCgroup(foreign.directory()), .port = foreign.port()});
  const Measurement m = MeasureService(*service, kPlan, Get("/burn?ms=1"), Meanwhile([&] {
    foreign.Kill();
    foreign.Start();
  }));
  ExpectFault(m, ValidityGate::kServiceGone, "the service ended before the second snapshot");
}

TEST_F(AttachToKernel, LimitsThatChangedSinceAreToldAndNeverChangedByUs) {
  ForeignService foreign(50ms);
  const auto service =
      AttachService({.target = RunningProcess(foreign.pid()), .port = foreign.port()});
  try {
    service->Update({.cpus = 2});
    FAIL() << "changed the limits of somebody else's service";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("are not ours to change"));
  }
  EXPECT_EQ(service->cgroup().Read().cpu[0].bandwidth, foreign.limits().cpu);
  foreign.Limit(80ms);
  const Measurement m = MeasureService(*service, kPlan.For(1s), Get("/burn?ms=1"), Patient());
  ExpectFault(m, ValidityGate::kLimitChanged,
              "had 50 ms per 100 ms (0.5 CPUs), then 80 ms per 100 ms (0.8 CPUs)");
}

TEST_F(AttachToKernel, TheSameServiceTwiceIsCountedOnce) {
  const ForeignService foreign(50ms);
  const AttachSpec spec{.target = RunningProcess(foreign.pid()), .port = foreign.port()};
  const auto one = AttachService(spec);
  const auto two = AttachService(spec);
  EXPECT_THAT(internal::UsageOfRunningServices(one.get()), IsEmpty());
  EXPECT_EQ(internal::UsageOfRunningServices(nullptr).size(), 1u);
}

TEST_F(AttachToKernel, AForeignPortIsNotTakenForTheServices) {
  const ForeignService foreign(50ms);
  const ForeignService other(50ms);
  EXPECT_THAT(Refusal({.target = RunningProcess(foreign.pid()), .port = other.port()}),
              AllOf(StartsWith("unsupported: cannot attach to process " +
                               std::to_string(foreign.pid()) + ": port "),
                    HasSubstr("is listened on by process " + std::to_string(other.pid()) +
                              " (burn_server), not by the service; nothing was sent to it")));
  EXPECT_THAT(Refusal({.target = RunningProcess(foreign.pid()), .port = internal::PickPort()}),
              AllOf(HasSubstr("not_ready: "), HasSubstr("does not answer"),
                    HasSubstr("Connection refused")));
}

TEST_F(AttachToKernel, TheTestsOwnCgroupIsRefused) {
  const OwnQuota own(90ms);
  EXPECT_THAT(Refusal({.target = RunningProcess(::getpid())}),
              AllOf(StartsWith("unsupported: "), HasSubstr("also holds this process"),
                    HasSubstr(own.path())));
}

TEST_F(AttachToKernel, WhatIsNoProcessOfItsOwnIsRefused) {
  const pid_t zombie = ::fork();
  if (zombie == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT);
  EXPECT_THAT(Refusal({.target = RunningProcess(zombie)}),
              AllOf(HasSubstr("not_ready: "), HasSubstr("zombie")));
  ::waitpid(zombie, nullptr, 0);
  EXPECT_THAT(Refusal({.target = RunningProcess(zombie)}), HasSubstr("there is no such process"));
  std::string thread_refusal;
  std::thread([&] {
    const auto id = static_cast<pid_t>(::syscall(SYS_gettid));
    thread_refusal = Refusal({.target = RunningProcess(id)});
  }).join();
  EXPECT_THAT(thread_refusal, HasSubstr("it is a thread of process " + std::to_string(::getpid())));
}

TEST_F(AttachToKernel, AnEmptyCgroupAndAFolderAreRefused) {
  ForeignService foreign(50ms);
  foreign.Kill();
  EXPECT_THAT(Refusal({.target = RunningCgroup(foreign.directory())}),
              AllOf(HasSubstr("not_ready: "), HasSubstr("no process")));
  EXPECT_THAT(Refusal({.target = RunningCgroup("/proc")}), HasSubstr("/proc is not a cgroup"));
}

TEST_F(AttachToKernel, TheRootCgroupIsRefused) {
  const ForeignService foreign(50ms);
  const ControllerLocation& cpu = *foreign.location().cpu;
  if (cpu.ancestors_hidden) GTEST_SKIP() << "the root of this view is a cgroup like any other";
  EXPECT_THAT(Refusal({.target = RunningCgroup(cpu.mount_point)}), HasSubstr("in the root cgroup"));
}

}  // namespace
}  // namespace throttletest::test
