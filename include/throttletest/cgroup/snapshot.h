// Snapshot: everything the kernel says about one service's cgroup at one instant.
//
//   const Cgroup cgroup = Cgroup::Open(LocateCgroup(pid));
//   const Snapshot before = cgroup.Read();
//   ... load ...
//   const CgroupDelta delta = Subtract(before, cgroup.Read());
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/limits.h"
#include "throttletest/cgroup/location.h"

namespace throttletest {

// Bandwidth counters of one cgroup level. Counters never decrease while the cgroup lives; they say
// what THIS level's own quota did, not an ancestor's.
// Source: cpu.stat keys nr_periods, nr_throttled, throttled_usec (v2) or throttled_time (v1, ns),
// nr_bursts, burst_usec (v2) or burst_time (v1, ns).
struct BandwidthCounters {
  std::int64_t periods = 0;
  std::int64_t throttled_periods = 0;
  std::chrono::nanoseconds throttled_time{0};  // summed over CPUs; may exceed wall time
  std::optional<std::int64_t> bursts = {};     // Absent: kernel older than 5.16.
  std::optional<std::chrono::nanoseconds> burst_time = {};

  friend bool operator==(const BandwidthCounters&, const BandwidthCounters&) = default;
};

// One level of the ancestor chain of the cpu controller.
struct CpuLevel {
  std::string path = {};  // relative to the mount, e.g. "/docker/3f..."
  std::uint64_t inode = 0;
  // Absent: the root, which cannot be limited, or the controller is not enabled here.
  std::optional<CpuBandwidth> bandwidth = {};
  std::optional<BandwidthCounters> counters = {};
  // Time this level was held by its own or any ancestor's quota, summed over CPUs. Absent: kernel
  // older than 6.6, controller off, or only the root above, which has no quota: it is then the
  // throttled time of `counters`, so the file is not read. Source: cpu.stat.local.
  std::optional<std::chrono::nanoseconds> held_time = {};

  friend bool operator==(const CpuLevel&, const CpuLevel&) = default;
};

// Memory figures of the leaf cgroup; the limits are the smallest of the leaf and its ancestors.
// Units: bytes and event counts.
struct MemoryCounters {
  // Highest use since the cgroup was made, or since Cgroup::RestartPeak(). Source: v2 memory.peak
  // (5.19), v1 memory.max_usage_in_bytes.
  std::optional<std::int64_t> peak = {};
  std::optional<std::int64_t> usage = {};  // now; v2 memory.current, v1 memory.usage_in_bytes
  std::optional<ByteSize> limit = {};      // Unlimited() when there is none; v2 memory.max
  std::string limit_path;                  // the level that sets `limit`; empty when unlimited
  // Memory plus swap at that level. Absent: swap is not accounted on this machine.
  // Source: v1 memory.memsw.limit_in_bytes, v2 memory.max + memory.swap.max.
  std::optional<ByteSize> swap_limit = {};
  std::optional<std::int64_t> oom_kills = {};  // v2 memory.events oom_kill, v1 memory.oom_control

  friend bool operator==(const MemoryCounters&, const MemoryCounters&) = default;
};

// Total stall time so far. Absent: pressure information is off or not built into this kernel.
// Units: wall time. Source: cpu.pressure, memory.pressure, "total=" of the some and full lines.
struct PressureCounters {
  std::optional<std::chrono::nanoseconds> cpu_some = {};
  std::optional<std::chrono::nanoseconds> cpu_full = {};
  std::optional<std::chrono::nanoseconds> memory_some = {};
  std::optional<std::chrono::nanoseconds> memory_full = {};

  friend bool operator==(const PressureCounters&, const PressureCounters&) = default;
};

// What really bounds the service's CPU: the smallest of every level's quota/period, the cpuset and
// the online CPUs.
struct EffectiveCpuLimit {
  enum class Source { kQuota, kCpuset, kOnlineCpus };
  double cpus = 0;
  Source source = Source::kOnlineCpus;
  std::string path;  // the level whose quota or cpuset bounds; empty for kOnlineCpus
  // The bandwidth of the level with the smallest quota, whether or not it is what bounds. Absent:
  // no quota is in force on any visible level ("no CPU quota in force", which is not 0 %
  // throttled).
  std::optional<CpuBandwidth> quota = {};
  std::string quota_path;
  bool ancestors_hidden = false;  // levels above the mount's root could not be read

  friend bool operator==(const EffectiveCpuLimit&, const EffectiveCpuLimit&) = default;
};

// All counters and limits at one instant.
struct Snapshot {
  std::chrono::steady_clock::time_point time;
  std::vector<CpuLevel> cpu;  // leaf first, then its ancestors up to the visible root
  std::optional<std::chrono::nanoseconds> usage = {};   // CPU time incl. descendants
  std::optional<std::chrono::nanoseconds> user = {};    // v2 only
  std::optional<std::chrono::nanoseconds> system = {};  // v2 only
  std::optional<CpuSet> cpuset = {};  // effective cpuset. Absent: cpuset controller not available.
  std::string cpuset_path;
  // The leaf's share of busy CPUs beside its siblings, as the kernel has it: no limit, and engines
  // disagree on how one follows from the other. Units: v2 cpu.weight 1..10000, default 100; v1
  // cpu.shares 2..262144, default 1024. Absent: no cpu controller here.
  std::optional<std::int64_t> cpu_weight = {};
  CpuSet online;
  bool ancestors_hidden = false;
  std::string unseen;  // those ancestors in words, as UnseenLevels(); empty when all are visible
  MemoryCounters memory;
  PressureCounters pressure;
  // Oddities worth telling, e.g. an ignored third field in cpu.max.
  std::vector<std::string> notes;

  EffectiveCpuLimit EffectiveCpu() const;
};

// A service's cgroup, held open. Every read goes through directory descriptors taken at Open(), so
// a cgroup that was removed and made again under the same name is an error, never a stranger's
// counters. Move-only. Thread-safe for concurrent Read().
class Cgroup {
 public:
  // Errors: kCgroup when a directory cannot be opened or the leaf is the root ("SUT is in the root
  // cgroup, cannot be limited" only when `allow_root` is false).
  static Cgroup Open(const CgroupLocation& location, const std::string& fs_root = "",
                     bool allow_root = false);
  Cgroup(Cgroup&&) noexcept;
  Cgroup& operator=(Cgroup&&) noexcept;
  ~Cgroup();

  // Reads everything. Errors: kCgroup "cgroup is gone" when the directory was removed; kParse.
  Snapshot Read() const;

  // Begins a new memory peak: from now on MemoryCounters::peak is the highest use since now. v1 has
  // one mark for all who read it; v2's new one (kernel 6.12) is this object's alone. Absent: false,
  // the kernel cannot or does not let us; the peak is still that of the cgroup's life. Errors:
  // none.
  bool RestartPeak() const;

  // The few numbers a timeline needs, cheaply: usage and the bandwidth counters of the levels with
  // a quota at Open() or at the last Read(), leaf first. Errors: as Read().
  struct Quick {
    std::chrono::steady_clock::time_point time;
    std::optional<std::chrono::nanoseconds> usage;
    // Summed over the levels with a quota, so that any level's throttling shows. Absent: no quota.
    std::optional<BandwidthCounters> counters;
    // As MemoryCounters::usage. Units: bytes. Absent: it was left out, or cannot be read.
    std::optional<std::int64_t> memory = {};
  };
  // Memory costs a file more, and is needed only where the kernel keeps no peak of the window.
  enum class QuickMemory { kLeftOut, kRead };
  Quick ReadQuick(QuickMemory memory = QuickMemory::kLeftOut) const;

  const CgroupLocation& location() const;
  // The processes in the leaf now. Source: cgroup.procs. Errors: kCgroup.
  std::vector<pid_t> Processes() const;

 private:
  struct State;
  explicit Cgroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace throttletest
