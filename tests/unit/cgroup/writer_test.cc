#include "cgroup/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_text.h"
#include "fake_cgroups.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kV1 = CgroupVersion::kV1;
constexpr auto kV2 = CgroupVersion::kV2;

// What the kernel holds, and the states it refuses on the way.
struct FakeKernel {
  CpuBandwidth own;
  CpuBandwidth parent;

  ::testing::AssertionResult Apply(const std::vector<ControlWrite>& plan) {
    for (const ControlWrite& write : plan) {
      const microseconds value(std::stoll(write.value));
      if (write.file == "cpu.cfs_quota_us") {
        own.quota = value.count() < 0 ? std::nullopt : std::optional(value);
      } else if (write.file == "cpu.cfs_period_us") {
        own.period = value;
      } else {
        own.burst = value;
      }
      const bool share = own.quota && parent.quota && *own.cpus() > *parent.cpus();
      if (share || (own.quota && own.burst > *own.quota)) {
        return ::testing::AssertionFailure() << "EINVAL at " << write.file << "=" << write.value;
      }
    }
    return ::testing::AssertionSuccess();
  }
};

TEST(PlanCpuWrites, C041NeverPassesTheParentsShareOnV1) {
  const CpuBandwidth long_period{.quota = 400ms, .period = 1s};
  const CpuBandwidth short_period{.quota = 40ms, .period = 100ms};
  FakeKernel kernel{.own = {}, .parent = {.quota = 50ms}};
  // From nothing, to the longer period, and back to the shorter.
  for (const CpuBandwidth& wanted : {long_period, short_period, CpuBandwidth{}, short_period}) {
    EXPECT_TRUE(kernel.Apply(PlanCpuWrites(kV1, kernel.own, wanted)));
    EXPECT_EQ(kernel.own, wanted);
  }
  FakeKernel other{.own = short_period, .parent = {.quota = 50ms}};
  EXPECT_FALSE(other.Apply({{"cpu.cfs_quota_us", "400000"}, {"cpu.cfs_period_us", "1000000"}}))
      << "the other order is what the kernel refuses";
}

TEST(PlanCpuWrites, KeepsTheBurstWithinTheQuotaAtEveryStep) {
  const CpuBandwidth large{.quota = 50ms, .burst = 40ms};
  const CpuBandwidth small{.quota = 20ms, .burst = 10ms};
  FakeKernel kernel;
  for (const CpuBandwidth& wanted : {large, small, large, CpuBandwidth{}, large}) {
    EXPECT_TRUE(kernel.Apply(PlanCpuWrites(kV1, kernel.own, wanted)));
    EXPECT_EQ(kernel.own, wanted);
  }
}

TEST(PlanCpuWrites, WritesV2LimitsAtOnce) {
  EXPECT_THAT(PlanCpuWrites(kV2, {}, {.quota = 50ms}),
              ElementsAre(ControlWrite{"cpu.max", "50000 100000"}));
  EXPECT_THAT(
      PlanCpuWrites(kV2, {.quota = 50ms, .burst = 40ms}, {.quota = 20ms, .burst = 10ms}),
      ElementsAre(ControlWrite{"cpu.max.burst", "0"}, ControlWrite{"cpu.max", "20000 100000"},
                  ControlWrite{"cpu.max.burst", "10000"}));
}

TEST(PlanCpuWrites, C048WritesAPeriodWithoutAQuota) {
  EXPECT_THAT(PlanCpuWrites(kV2, {.quota = 50ms}, {.period = 50ms}),
              ElementsAre(ControlWrite{"cpu.max", "max 50000"}));
}

TEST(PlanCpuWrites, C020WritesTheBurstAgainAfterTheQuota) {
  const CpuBandwidth same{.quota = 50ms, .burst = 20ms};
  EXPECT_THAT(PlanCpuWrites(kV2, same, same), ElementsAre(ControlWrite{"cpu.max", "50000 100000"},
                                                          ControlWrite{"cpu.max.burst", "20000"}));
}

std::vector<ControlWrite> V2Memory(const ResolvedLimits& wanted) {
  return PlanMemoryWrites(kV2, ByteSize::Unlimited(), wanted);
}

TEST(PlanMemoryWrites, C180SubtractsMemoryFromTheSumOnV2) {
  EXPECT_THAT(
      V2Memory({.memory = 64_MiB, .memory_and_swap = 64_MiB}),
      ElementsAre(ControlWrite{"memory.max", "67108864"}, ControlWrite{"memory.swap.max", "0"}));
}

TEST(PlanMemoryWrites, C108WritesEverySwapRequest) {
  EXPECT_EQ(V2Memory({.memory = 64_MiB, .memory_and_swap = 128_MiB})[1].value, "67108864");
  EXPECT_EQ(V2Memory({.memory = 64_MiB})[1].value, "max");
  EXPECT_THAT(V2Memory({}), ElementsAre(ControlWrite{"memory.max", "max"},
                                        ControlWrite{"memory.swap.max", "max"}));
}

TEST(PlanMemoryWrites, OrdersV1WritesByTheWayTheyMove) {
  const auto first = [](ByteSize current, const ResolvedLimits& wanted) {
    return PlanMemoryWrites(kV1, current, wanted).front().file;
  };
  const ResolvedLimits wanted{.memory = 64_MiB, .memory_and_swap = 128_MiB};
  EXPECT_EQ(first(ByteSize::Unlimited(), wanted), "memory.limit_in_bytes");
  EXPECT_EQ(first(256_MiB, wanted), "memory.limit_in_bytes");
  EXPECT_EQ(first(32_MiB, wanted), "memory.memsw.limit_in_bytes");
  EXPECT_EQ(first(256_MiB, {}), "memory.memsw.limit_in_bytes");
}

TEST(WriteLimits, WritesEverythingOnV2) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  for (const char* file : {"cpuset.cpus", "memory.max", "memory.swap.max"})
    fake.Set("/a", file, "");
  WriteLimits(FakeV2::At("/a"),
              {.cpu = {.quota = 50ms, .burst = 20ms},
               .cpuset = CpuSet::Parse("1,2"),
               .memory = 64_MiB,
               .memory_and_swap = 64_MiB},
              fake.tree.root());
  EXPECT_EQ(fake.Read("/a", "cpu.max"), "50000 100000");
  EXPECT_EQ(fake.Read("/a", "cpu.max.burst"), "20000");
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "1-2");
  EXPECT_EQ(fake.Read("/a", "memory.max"), "67108864");
  EXPECT_EQ(fake.Read("/a", "memory.swap.max"), "0");
}

TEST(WriteLimits, OpensWhatIsLeftOpen) {
  const FakeV2 fake;
  fake.AddLevel("/a", "50000 100000\n");
  fake.Set("/a", "memory.max", "67108864\n");
  fake.Set("/a", "cpuset.cpus", "1\n");
  fake.Set("/", "cpuset.cpus.effective", "0-3\n");
  WriteLimits(FakeV2::At("/a"), {}, fake.tree.root());
  EXPECT_EQ(fake.Read("/a", "cpu.max"), "max 100000");
  EXPECT_EQ(fake.Read("/a", "memory.max"), "max");
  // The kernel refuses an empty list where there are processes.
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "0-3");
}

TEST(WriteLimits, LeavesACpusetThatIsOpenAlone) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.Set("/a", "cpuset.cpus", "\n");
  WriteLimits(FakeV2::At("/a"), {}, fake.tree.root());
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "\n");
}

TEST(WriteLimits, NeedsNoFileOfWhichNothingIsAsked) {
  const FakeV2 fake;
  fake.tree.Mkdir("sys/fs/cgroup/a");
  EXPECT_NO_THROW(WriteLimits(FakeV2::At("/a"), {}, fake.tree.root()));
  EXPECT_NO_THROW(WriteLimits({}, {}, fake.tree.root()));
}

TEST(WriteLimits, SaysWhatIsMissing) {
  const FakeV2 fake;
  fake.tree.Mkdir("sys/fs/cgroup/a");
  const auto failure = [&](const CgroupLocation& location, const ResolvedLimits& limits) {
    return ErrorText(ErrorCode::kUnsupported,
                     [&] { WriteLimits(location, limits, fake.tree.root()); });
  };
  EXPECT_THAT(failure(FakeV2::At("/a"), {.cpu = {.quota = 50ms}}),
              HasSubstr("/a has no cpu.max; the cpu controller is not enabled"));
  EXPECT_THAT(failure({}, {.cpu = {.quota = 50ms}}),
              HasSubstr("the cpu controller is not available"));
  EXPECT_THAT(failure({}, {.memory = 64_MiB}), HasSubstr("the memory controller is not available"));
  EXPECT_THAT(failure(FakeV2::At("/a"), {.memory = 64_MiB}), HasSubstr("/a/memory.max"));
  fake.Set("/a", "memory.max", "max\n");
  EXPECT_THAT(failure(FakeV2::At("/a"), {.memory = 64_MiB, .memory_and_swap = 65_MiB}),
              HasSubstr("memory.swap.max"));
  EXPECT_NO_THROW(WriteLimits(FakeV2::At("/a"), {.memory = 64_MiB, .memory_and_swap = 128_MiB},
                              fake.tree.root()))
      << "the default of twice the memory needs no swap accounting";
}

// A file that refuses as a control file does: the kernel takes only small integers there.
void MakeRefusing(const FakeV2& fake, const std::string& path, const std::string& file) {
  std::filesystem::create_symlink("/proc/self/oom_score_adj",
                                  fake.tree.Path("sys/fs/cgroup" + path + "/" + file));
}

TEST(WriteLimits, C040NamesTheLevelAboveAndBothValues) {
  const FakeV2 fake;
  fake.tree.Mkdir("sys/fs/cgroup/p/c");
  CgroupLocation location;
  location.cpu = ControllerLocation{kV1, "/sys/fs/cgroup", "/p/c", false};
  fake.Set("/p", "cpu.cfs_quota_us", "50000\n");
  fake.Set("/p", "cpu.cfs_period_us", "100000\n");
  MakeRefusing(fake, "/p/c", "cpu.cfs_quota_us");
  fake.Set("/p/c", "cpu.cfs_period_us", "100000\n");
  // The stand-in reads as 0 at first, which is no quota a kernel would print.
  WriteControlFile("/proc/self", "oom_score_adj", "1");
  const std::string text = ErrorText(ErrorCode::kCgroup, [&] {
    WriteLimits(location, {.cpu = {.quota = 60ms}}, fake.tree.root());
  });
  EXPECT_THAT(text, HasSubstr("cannot write \"60000\" to "));
  EXPECT_THAT(text, HasSubstr("/p/c/cpu.cfs_quota_us: Invalid argument"));
  EXPECT_THAT(text, HasSubstr("larger than that of the level above"));
  EXPECT_THAT(text, HasSubstr("asked for 60 ms per 100 ms (0.6 CPUs)"));
  EXPECT_THAT(text, HasSubstr("the level /p above it allows 50 ms per 100 ms (0.5 CPUs)"));
}

TEST(WriteControlFile, C050ReportsTheRefusalOfTheWriteItself) {
  const FakeV2 fake;
  fake.tree.Mkdir("sys/fs/cgroup/a");
  MakeRefusing(fake, "/a", "cpu.max");
  EXPECT_THAT(
      ErrorText(ErrorCode::kCgroup,
                [&] { WriteControlFile(fake.tree.Path("sys/fs/cgroup/a"), "cpu.max", "7e4"); }),
      HasSubstr("cannot write \"7e4\" to "));
}

TEST(WriteControlFile, C173ExplainsAnEmptyCpuset) {
  const FakeV2 fake;
  fake.tree.Mkdir("sys/fs/cgroup/a");
  std::filesystem::create_symlink("/dev/full", fake.tree.Path("sys/fs/cgroup/a/cgroup.procs"));
  EXPECT_THAT(
      ErrorText(ErrorCode::kCgroup, [&] { AddProcess(FakeV2::At("/a"), 7, fake.tree.root()); }),
      HasSubstr("cpuset.cpus or cpuset.mems of this cgroup is empty"));
}

TEST(WriteControlFile, TellsAMissingFileFromAMissingCgroup) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  const std::string directory = fake.tree.Path("sys/fs/cgroup/a");
  EXPECT_THAT(
      ErrorText(ErrorCode::kUnsupported, [&] { WriteControlFile(directory, "cpu.idle", "1"); }),
      HasSubstr("its controller is not enabled"));
  EXPECT_THAT(
      ErrorText(ErrorCode::kCgroup, [&] { WriteControlFile(directory + "x", "cpu.max", "1"); }),
      HasSubstr("cgroup is gone"));
}

}  // namespace
}  // namespace throttletest::internal
