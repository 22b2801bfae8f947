// What memory limits mean, what is in force, and what an OOM kill leaves to read.
//
// `memory_swap` is memory plus swap, as container engines define it: -m 200m --memory-swap 500m
// allows 300 MB of swap. The kernel's files are read back, and the limits are changed while the
// service runs. `free` inside a container still shows the machine; the truth is in the cgroup.
// With --throttletest_launcher=docker (or podman) the same runs in containers.
#include <throttletest/throttletest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

struct Setting {
  const char* asked;
  Limits limits;
  std::optional<ByteSize> swap;  // what is left for swap. Absent: any amount
  const char* published;
};

const std::vector<Setting> kSettings = {
    {"-m 200m --memory-swap 500m",
     {.memory = 200_MiB, .memory_swap = 500_MiB},
     300_MiB,
     "300 MB of swap"},
    {"-m 200m", {.memory = 200_MiB}, 200_MiB, ""},
    {"-m 200m --memory-swap 200m", {.memory = 200_MiB, .memory_swap = 200_MiB}, 0_MiB, ""},
    {"-m 200m --memory-swap -1",
     {.memory = 200_MiB, .memory_swap = ByteSize::Unlimited()},
     std::nullopt,
     ""},
};

// What the kernel leaves for swap. Absent: any amount.
std::optional<ByteSize> SwapInForce(const MemoryCounters& memory) {
  if (memory.swap_limit->unlimited()) return std::nullopt;
  return ByteSize(memory.swap_limit->bytes() - memory.limit->bytes());
}

std::string Text(const std::optional<ByteSize>& size) {
  if (!size) return "unlimited";
  return size->bytes() == 0 ? "none" : ToString(*size);
}

class MemoryLimits : public ThrottleTestBase {
 protected:
  static ServiceSpec Burner(const Limits& limits) {
    return {.command = {BURN_SERVER, "--port={port}", "--threads=4"},
            .limits = limits,
            .ready = HttpReady("/healthz")};
  }
};

TEST_F(MemoryLimits, AreReadBackAndChangedLive) {
  Service& service = Start(Burner({}));
  std::cout << "\nmemory and memory plus swap (" << service.launcher_version() << ")\n\n";
  std::printf("  %-28s %-10s %-12s %-10s %s\n", "asked", "memory", "with swap", "swap",
              "published");
  for (const Setting& setting : kSettings) {
    service.Update(setting.limits);  // fails unless it reads back as it was asked for
    const MemoryCounters memory = service.cgroup().Read().memory;
    ASSERT_TRUE(memory.limit && memory.swap_limit) << "this machine does not account swap";
    std::printf("  %-28s %-10s %-12s %-10s %s\n", setting.asked, ToString(*memory.limit).c_str(),
                ToString(*memory.swap_limit).c_str(), Text(SwapInForce(memory)).c_str(),
                setting.published);
    EXPECT_EQ(memory.limit, 200_MiB);
    EXPECT_EQ(SwapInForce(memory), setting.swap) << setting.asked;
  }
  std::cout << "\n";
}

// The evidence is read before the cgroup goes. A run in which the service was killed is not
// trusted, so this uses the engine: Measure() of a fixture would end the test here.
TEST_F(MemoryLimits, LeaveEvidenceOfAnOomKill) {
  Service& service = Start(Burner({.memory = 64_MiB, .memory_swap = 64_MiB}));
  const LoadPlan plan = Batches(1).Every(100ms).For(1s).WarmUp(0s);
  const Measurement fits = MeasureOn(service, plan, Get("/burn?ms=1&mb=16"));
  EXPECT_THAT(fits, AllOf(MemoryPeakBelow(64_MiB), NotOomKilled(), NoFailedRequests()));

  const Measurement killed = MeasureService(service, plan, Get("/burn?ms=1&mb=200"));
  const ExitReport report = service.Stop();
  std::cout << "\n64 MiB of memory, no swap\n\n"
            << "  16 MiB a request    peak " << ToString(ByteSize(fits.cgroup.memory_peak.value()))
            << ", OOM kills " << fits.cgroup.oom_kills.value() << "\n"
            << "  200 MiB a request   " << killed.validity.ToString() << "\n"
            << "  at the end          " << report.ToString() << "\n\n";
  EXPECT_FALSE(killed.validity.trusted());
  EXPECT_THAT(killed.validity.ToString(), testing::HasSubstr("OOM-killed"));
  EXPECT_GE(report.oom_kills.value_or(0), 1);
}

// "MemTotal:       24683316 kB". Absent: 0.
std::int64_t MachineMemory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kib = 0;
  file >> name >> kib;
  return kib * 1024;
}

TEST_F(MemoryLimits, AreNotWhatFreeShowsInside) {
  Service* service = nullptr;
  try {
    service = &Start({.command = {"free", "-b", "-s", "3600"},
                      .limits = {.memory = 200_MiB, .memory_swap = 500_MiB},
                      .ready = CallableReady("free wrote its table", [](const ReadinessTarget& t) {
                        return t.logs().find("Swap:") != std::string::npos;
                      })});
  } catch (const Error& e) {
    GTEST_SKIP() << "no free here: " << e.what();
  }
  const std::string log = service->logs();
  const std::int64_t total = std::atoll(log.c_str() + log.find("Mem:") + 4);
  const MemoryCounters memory = service->cgroup().Read().memory;
  std::cout << "\n`free` inside: " << ToString(ByteSize(total)) << "; the machine has "
            << ToString(ByteSize(MachineMemory())) << "; the limit is " << ToString(*memory.limit)
            << "\n\n";
  EXPECT_EQ(total, MachineMemory());
  EXPECT_EQ(memory.limit, 200_MiB);
}

}  // namespace
