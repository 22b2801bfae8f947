// CpuCount: how many CPUs a runtime believes to have under a limit, which is how many threads it
// starts when nobody tells it otherwise.
//
//   DerivedCpuCount(Runtime::kHotSpot, {.quota = CpuBandwidth{50ms}, .allowed = 8, .online = 8}) ==
//   1
//
// A limit is a fraction and stays one in Limits and CpuBandwidth; it is only here that it is
// rounded, and every runtime has its own rule. These functions say what is published about each;
// what a program really did is in Measurement::threads.
//
// Deliberately absent: Node (libuv). Its answer to 0.25 and 1.25 CPUs changed from release to
// release, and so did the cgroup versions it looks at; ask the running service.
#pragma once

#include <array>
#include <optional>

#include "throttletest/cgroup/limits.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest {

// Runtimes with a rule that is written down. Q is quota / period, A the CPUs the process may run
// on. Each has a way for the user to overrule it, in brackets.
enum class Runtime {
  // min(A, ceil(Q)), Q the smallest of the chain of cgroups (older JDKs: of the leaf). CPU shares
  // count
  // as well before JDK 19. [-XX:ActiveProcessorCount]
  // Source: openjdk src/hotspot/os/linux/cgroupUtil_linux.cpp, processor_count().
  kHotSpot,
  // min(A, max(2, ceil(Q))), Q of the leaf cgroup, for programs whose go.mod says 1.25 or later.
  // [GOMAXPROCS, GODEBUG=containermaxprocs=0]
  // Source: go src/runtime/cgroup_linux.go, adjustCgroupGOMAXPROCS().
  kGo,
  // A: no look at the quota. [GOMAXPROCS] Source: go 1.24 src/runtime/os_linux.go, getproccount().
  kGoBefore125,
  // max(1, floor(Q)), even where that is more than A; without a quota what Go itself has (A before
  // 1.25). [GOMAXPROCS]
  // Source: go.uber.org/automaxprocs internal/runtime/cpu_quota_linux.go, CPUQuotaToGOMAXPROCS().
  kAutomaxprocs,
  // min(A, ceil(Q)). [DOTNET_PROCESSOR_COUNT]
  // Source: dotnet/runtime src/coreclr/pal/src/misc/cgroup.cpp, GetCpuLimit(); documentation of
  // Environment.ProcessorCount.
  kDotNet,
  // A: coreutils before 9.8. [OMP_NUM_THREADS, OMP_THREAD_LIMIT]
  // Source: gnulib lib/nproc.c, num_processors().
  kNprocBefore98,
  // min(A, max(1, Q rounded to nearest, halves up)), Q the smallest of the chain, on cgroup v2
  // alone;
  // on v1 as before. [the same] Source: gnulib lib/nproc.c, get_cgroup2_cpu_quota().
  kNproc,
  // A: GCC's libgomp. [OMP_NUM_THREADS] Source: gcc libgomp/config/linux/proc.c.
  kOpenMp,
  // The online CPUs, whatever quota and affinity: libstdc++ on glibc 2.35 and later, which asks
  // get_nprocs(). Source: measured on glibc 2.36 (2 under an affinity of 1).
  kHardwareConcurrency,
};
inline constexpr std::array<Runtime, 9> kRuntimes = {
    Runtime::kHotSpot,      Runtime::kGo,     Runtime::kGoBefore125,
    Runtime::kAutomaxprocs, Runtime::kDotNet, Runtime::kNprocBefore98,
    Runtime::kNproc,        Runtime::kOpenMp, Runtime::kHardwareConcurrency};
// "HotSpot", "Go 1.25", "automaxprocs", "std::thread::hardware_concurrency", ...
const char* RuntimeName(Runtime runtime);

// What a process is given.
struct CpuView {
  // Absent: no quota in force.
  std::optional<CpuBandwidth> quota = {};
  int allowed = 1;  // CPUs of its affinity and cpuset; >= 1
  int online = 1;   // CPUs of the machine; >= allowed
  // kNproc looks at the quota on v2 alone.
  bool cgroup_v2 = true;
};

// What a service sees under limits that are not in force yet. Errors: as ResolveLimits().
CpuView ViewUnder(const Limits& limits, const CpuSet& online);
// What one sees at this moment: the smallest quota of the chain, the cpuset, the online CPUs. An
// affinity that the process set itself is not known.
CpuView ViewOf(const Snapshot& snapshot);

// Threads the runtime would take for one a CPU. Units: >= 1. Errors: kInvalidArgument for a view
// with less than one CPU, or fewer online than allowed.
int DerivedCpuCount(Runtime runtime, const CpuView& view);

// How many threads a quota can keep busy: its CPUs rounded up, at least 1. Absent: no quota.
std::optional<int> ThreadsOfQuota(const CpuBandwidth& quota);

}  // namespace throttletest
