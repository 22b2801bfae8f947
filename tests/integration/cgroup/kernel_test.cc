// Reading and writing cgroups of the running kernel. Needs root; leaves nothing behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "cgroup/location_parts.h"
#include "cgroup/writer.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/delta.h"
#include "throttletest/cgroup/read_back.h"
#include "throttletest/cgroup/sampler.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using internal::ChildLocation;
using internal::EnableControllers;
using internal::KillAll;
using internal::MakeCgroup;
using internal::ProcsFiles;
using internal::RemoveCgroup;
using internal::WriteControlFile;
using internal::WriteLimits;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The hierarchies of this machine at their visible roots, where a new cgroup may be made.
CgroupLocation Roots() {
  CgroupLocation location = LocateCgroup(::getpid());
  for (auto* place : internal::PartsOf(location)) {
    if (*place) (*place)->relative_path = "/";
  }
  return location;
}

class CgroupKernel : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a cgroup";
    if (DetectCgroupMode() == CgroupMode::kNone) GTEST_SKIP() << "no cgroups are mounted";
    const CgroupLocation roots = Roots();
    if (!roots.cpu) GTEST_SKIP() << "no cpu controller here";
    on_v1_ = roots.cpu->version == CgroupVersion::kV1;
    try {
      if (!on_v1_) EnableControllers(roots.cpu->directory(), {"cpu", "cpuset", "memory"});
      location_ = ChildLocation(roots, "throttletest-test-" + std::to_string(::getpid()));
      MakeCgroup(location_);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kPermission) throw;
      GTEST_SKIP() << e.what();
    }
    made_ = true;
  }

  void TearDown() override {
    if (!made_) return;
    EXPECT_TRUE(KillAll(location_));
    for (const pid_t child : children_) ::waitpid(child, nullptr, 0);
    EXPECT_EQ(RemoveCgroup(location_), "");
  }

  // Starts a process inside `location` that spins, or waits and ignores SIGTERM.
  void StartChild(const CgroupLocation& location, bool spin) {
    const std::vector<std::string> procs = ProcsFiles(location);
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::signal(SIGTERM, SIG_IGN);
      for (const std::string& file : procs) {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || ::write(fd, "0", 1) != 1) ::_exit(1);
        ::close(fd);
      }
      while (spin) asm volatile("");  // work that the compiler may not remove
      for (;;) ::pause();
    }
    children_.push_back(child);
  }

  // Waits until `done` or ten seconds.
  template <typename Done>
  static bool Await(Done done) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  CgroupLocation location_;
  bool on_v1_ = false;
  bool made_ = false;
  std::vector<pid_t> children_;
};

// A reader that shares nothing with the product: the number after `key`, or the whole file's.
std::int64_t PlainRead(const std::string& file, const std::string& key = "") {
  std::ifstream in(file);
  std::string word;
  std::int64_t number = -1;
  if (key.empty()) {
    in >> number;
  } else {
    while (in >> word >> number && word != key) number = -1;
  }
  return number;
}

struct PlainCounters {
  std::int64_t periods, throttled, throttled_ns, usage_ns;
};

PlainCounters PlainRead(const CgroupLocation& location) {
  const bool v1 = location.cpu->version == CgroupVersion::kV1;
  const std::string stat = location.cpu->directory() + "/cpu.stat";
  return {PlainRead(stat, "nr_periods"), PlainRead(stat, "nr_throttled"),
          v1 ? PlainRead(stat, "throttled_time") : PlainRead(stat, "throttled_usec") * 1000,
          v1 ? PlainRead(location.cpuacct->directory() + "/cpuacct.usage")
             : PlainRead(stat, "usage_usec") * 1000};
}

// The quota is so small that even a busy machine gives more than it.
const ResolvedLimits kTenth{.cpu = {.quota = 10ms}};

TEST_F(CgroupKernel, DeltasEqualAPlainReadersAndShowThrottling) {
  WriteLimits(location_, kTenth);
  const Cgroup cgroup = Cgroup::Open(location_);
  StartChild(location_, true);
  ASSERT_TRUE(Await([&] { return cgroup.Read().cpu.front().counters->periods >= 2; }));
  const PlainCounters plain_before = PlainRead(location_);
  const Snapshot before = cgroup.Read();
  ASSERT_TRUE(Await([&] {
    return cgroup.Read().cpu.front().counters->periods - before.cpu.front().counters->periods >= 15;
  }));
  const Snapshot after = cgroup.Read();
  const PlainCounters plain_after = PlainRead(location_);

  const CgroupDelta delta = Subtract(before, after);
  ASSERT_THAT(delta.faults, IsEmpty());
  EXPECT_NEAR(static_cast<double>(delta.periods.value()),
              static_cast<double>(plain_after.periods - plain_before.periods), 1);
  EXPECT_NEAR(static_cast<double>(delta.throttled_periods.value()),
              static_cast<double>(plain_after.throttled - plain_before.throttled), 1);
  // One period more or less is at most one period of time more on each CPU.
  const double one_period_ns = 1e8 * after.online.count();
  EXPECT_NEAR(static_cast<double>(delta.throttled_time.value().count()),
              static_cast<double>(plain_after.throttled_ns - plain_before.throttled_ns),
              one_period_ns);
  EXPECT_NEAR(static_cast<double>(delta.usage.value().count()),
              static_cast<double>(plain_after.usage_ns - plain_before.usage_ns), one_period_ns);
  EXPECT_GE(delta.throttle_ratio.value(), 0.5);
  EXPECT_GT(delta.throttled_time.value(), 0ns);
  EXPECT_EQ(delta.effective.cpus, 0.1);
  EXPECT_EQ(delta.judged_path, location_.cpu->relative_path);
  EXPECT_FALSE(delta.judged_is_ancestor);
}

TEST_F(CgroupKernel, C005ChargesTheAncestorWhoseQuotaRanOut) {
  WriteLimits(location_, kTenth);
  if (!on_v1_) EnableControllers(location_.cpu->directory(), {"cpu"});
  const CgroupLocation leaf = ChildLocation(location_, "leaf");
  MakeCgroup(leaf);
  const Cgroup cgroup = Cgroup::Open(leaf);
  const Snapshot before = cgroup.Read();
  StartChild(leaf, true);
  ASSERT_TRUE(Await([&] { return cgroup.ReadQuick().counters->periods >= 10; }));
  const CgroupDelta delta = Subtract(before, cgroup.Read());
  EXPECT_EQ(delta.judged_path, location_.cpu->relative_path);
  EXPECT_TRUE(delta.judged_is_ancestor);
  EXPECT_GE(delta.throttle_ratio.value(), 0.5);
  EXPECT_EQ(cgroup.Read().cpu.front().counters->periods, 0) << "the leaf's own file says nothing";
}

TEST_F(CgroupKernel, C009SaysThatNoQuotaIsInForce) {
  const Cgroup cgroup = Cgroup::Open(location_);
  const Snapshot before = cgroup.Read();
  EXPECT_FALSE(cgroup.ReadQuick().counters);
  EXPECT_EQ(Subtract(before, cgroup.Read()).throttle_ratio.kind(), OutcomeKind::kNotAvailable);
}

TEST_F(CgroupKernel, C008SaysThatAnIdleServiceHasNoRatio) {
  WriteLimits(location_, kTenth);
  const Cgroup cgroup = Cgroup::Open(location_);
  const Snapshot before = cgroup.Read();
  EXPECT_EQ(Subtract(before, cgroup.Read()).throttle_ratio.kind(), OutcomeKind::kInconclusive);
}

TEST_F(CgroupKernel, C086SeesALimitThatChanged) {
  WriteLimits(location_, kTenth);
  const Cgroup cgroup = Cgroup::Open(location_);
  const Snapshot before = cgroup.Read();
  WriteLimits(location_, {});
  EXPECT_THAT(Subtract(before, cgroup.Read()).faults,
              ElementsAre(testing::Field(&CgroupFault::text, HasSubstr("limit changed"))));
}

TEST_F(CgroupKernel, ReadsBackEveryLimitThroughUpdates) {
  const Cgroup cgroup = Cgroup::Open(location_);
  const int first_cpu = *OnlineCpus().cpus().begin();
  std::vector<Limits> steps = {
      {.quota = 50ms, .period = 100ms},
      {.quota = 400ms, .period = 1s},
      {.quota = 40ms, .period = 100ms},
      {.cpus = 0.5, .period = 10ms},
      {},
      {.cpus = 0.25},
  };
  if (location_.cpuset) steps.push_back({.cpus = 0.5, .cpuset = std::to_string(first_cpu)});
  if (location_.memory) {
    steps.push_back({.memory = 64_MiB, .memory_swap = 64_MiB});
    steps.push_back({.memory = 256_MiB, .memory_swap = 512_MiB});
    steps.push_back({.memory = 32_MiB, .memory_swap = 48_MiB});
  }
  steps.push_back({});
  for (const Limits& limits : steps) {
    const ResolvedLimits wanted = ResolveLimits(limits, OnlineCpus());
    WriteLimits(location_, wanted);
    const ReadBack result = CheckLimits(wanted, cgroup.Read());
    EXPECT_THAT(result.differences, IsEmpty()) << ToString(limits);
  }
}

TEST_F(CgroupKernel, KeepsABurstThroughChangesOfTheQuota) {
  const Cgroup cgroup = Cgroup::Open(location_);
  for (const Limits& limits :
       {Limits{.quota = 50ms, .burst = 40ms}, Limits{.quota = 20ms, .burst = 10ms},
        Limits{.quota = 20ms}, Limits{.quota = 50ms, .burst = 50ms}, Limits{}}) {
    const ResolvedLimits wanted = ResolveLimits(limits, OnlineCpus());
    try {
      WriteLimits(location_, wanted);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kUnsupported) GTEST_SKIP() << e.what();
      throw;
    }
    EXPECT_THAT(CheckLimits(wanted, cgroup.Read()).differences, IsEmpty()) << ToString(limits);
  }
}

TEST_F(CgroupKernel, C041FindsTheOrderAParentAllows) {
  WriteLimits(location_, {.cpu = {.quota = 50ms}});
  if (!on_v1_) EnableControllers(location_.cpu->directory(), {"cpu"});
  const CgroupLocation child = ChildLocation(location_, "child");
  MakeCgroup(child);
  const Cgroup cgroup = Cgroup::Open(child);
  for (const CpuBandwidth& wanted :
       {CpuBandwidth{.quota = 400ms, .period = 1s}, CpuBandwidth{.quota = 40ms}}) {
    WriteLimits(child, {.cpu = wanted});
    EXPECT_EQ(cgroup.Read().cpu.front().bandwidth, wanted);
  }
}

TEST_F(CgroupKernel, C040ExplainsAShareAboveTheParents) {
  if (!on_v1_) GTEST_SKIP() << "cgroup v2 lets a child ask for more than its parent";
  WriteLimits(location_, {.cpu = {.quota = 50ms}});
  const CgroupLocation child = ChildLocation(location_, "child");
  MakeCgroup(child);
  try {
    WriteLimits(child, {.cpu = {.quota = 60ms}});
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCgroup);
    EXPECT_THAT(e.what(), HasSubstr("cannot write \"60000\""));
    EXPECT_THAT(e.what(), HasSubstr("the level " + location_.cpu->relative_path +
                                    " above it allows 50 ms per 100 ms (0.5 CPUs)"));
  }
}

TEST_F(CgroupKernel, C050ReportsWhatTheKernelRefuses) {
  const std::string file = on_v1_ ? "cpu.cfs_quota_us" : "cpu.max";
  for (const char* value : {"7e4", "seventy", "999"}) {
    EXPECT_THROW(WriteControlFile(location_.cpu->directory(), file, value), Error) << value;
  }
  // v1 takes hexadecimal, and v2 what begins with a number: only reading back catches it.
  WriteControlFile(location_.cpu->directory(), file, on_v1_ ? "0x10000" : "70000us");
  EXPECT_FALSE(CheckLimits(kTenth, Cgroup::Open(location_).Read()).ok());
}

TEST_F(CgroupKernel, C093SaysThatTheCgroupIsGone) {
  const CgroupLocation child = ChildLocation(location_, "child");
  MakeCgroup(child);
  const Cgroup cgroup = Cgroup::Open(child);
  TimelineSampler sampler(cgroup, 1ms);
  ASSERT_EQ(RemoveCgroup(child), "");
  MakeCgroup(child);  // a stranger under the same name
  const auto text = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(text([&] { cgroup.Read(); }), HasSubstr("cgroup is gone"));
  EXPECT_THAT(text([&] { cgroup.ReadQuick(); }), HasSubstr("cgroup is gone"));
  EXPECT_THAT(text([&] { cgroup.Processes(); }), HasSubstr("cgroup is gone"));
  EXPECT_THAT(sampler.Stop().stopped_because, HasSubstr("cgroup is gone"));
}

TEST_F(CgroupKernel, C100KillsManyProcessesAndRemovesTheirCgroup) {
  const CgroupLocation child = ChildLocation(location_, "child");
  MakeCgroup(child);
  for (int i = 0; i < 50; ++i) StartChild(i % 2 == 0 ? child : location_, false);
  const Cgroup cgroup = Cgroup::Open(child);
  ASSERT_TRUE(Await([&] { return cgroup.Processes().size() == 25; }));
  EXPECT_TRUE(KillAll(location_));
  EXPECT_EQ(RemoveCgroup(location_), "");
  made_ = false;
  for (const pid_t pid : children_) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
}

TEST_F(CgroupKernel, C175TrustsAMeanOfOnePerCentWhateverSinglePeriodsUsed) {
  WriteLimits(location_, {.cpu = {.quota = 1ms}});
  const Cgroup cgroup = Cgroup::Open(location_);
  StartChild(location_, true);
  ASSERT_TRUE(Await([&] { return cgroup.Read().cpu.front().counters->throttled_periods >= 1; }));
  const Snapshot before = cgroup.Read();
  // 4 ms of a tick may be charged to one period and paid back by the next ones.
  std::this_thread::sleep_for(3s);
  const CgroupDelta delta = Subtract(before, cgroup.Read());
  ASSERT_THAT(delta.faults, IsEmpty());
  EXPECT_GE(delta.periods.value(), 15);
  EXPECT_NEAR(delta.usage_cores.value(), 0.01, 0.005);
}

TEST_F(CgroupKernel, SamplerSeesTheThrottledWindows) {
  WriteLimits(location_, kTenth);
  const Cgroup cgroup = Cgroup::Open(location_);
  StartChild(location_, true);
  TimelineSampler sampler(cgroup, 10ms);
  ASSERT_TRUE(Await([&] { return cgroup.ReadQuick().counters->throttled_periods >= 5; }));
  const Timeline timeline = sampler.Stop();
  EXPECT_THAT(timeline.stopped_because, IsEmpty());
  EXPECT_GE(timeline.samples.size(), 2u);
  EXPECT_THAT(ThrottledWindows(timeline, 100ms), Not(IsEmpty()));
  EXPECT_GT(timeline.own_cpu, 0ns);
}

}  // namespace
}  // namespace throttletest
