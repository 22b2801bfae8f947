#include "cgroup/comparable.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;
using Texts = std::vector<std::string>;
using Faults = std::vector<CgroupFault>;
using Kind = CgroupFault::Kind;

void Report(Faults& faults, Kind kind, std::string text) {
  faults.push_back({kind, std::move(text)});
}

bool CompareIdentity(const Snapshot& before, const Snapshot& after, Faults& faults) {
  if (before.cpu.size() != after.cpu.size()) {
    Report(faults, Kind::kIdentity,
           fmt::format("cgroup identity changed: {} levels before, {} after", before.cpu.size(),
                       after.cpu.size()));
    return false;
  }
  for (std::size_t i = 0; i < after.cpu.size(); ++i) {
    const CpuLevel& a = before.cpu[i];
    const CpuLevel& b = after.cpu[i];
    if (a.path == b.path && a.inode == b.inode) continue;
    Report(
        faults, Kind::kIdentity,
        fmt::format(
            "cgroup identity changed: {} (inode {}) before, {} (inode {}) after; the service was "
            "restarted or moved",
            a.path, a.inode, b.path, b.inode));
    return false;
  }
  return true;
}

// The kernel doubles period, quota and burst together when it cannot keep up with a short period.
bool KernelScaled(const CpuBandwidth& a, const CpuBandwidth& b) {
  if (!a.quota || !b.quota || a.period.count() <= 0) return false;
  CpuBandwidth scaled = a;
  while (scaled.period < b.period) {
    scaled.period *= 2;
    *scaled.quota *= 2;
    scaled.burst *= 2;
  }
  return scaled == b;
}

void CompareBandwidth(const CpuLevel& a, const CpuLevel& b, const std::string& when, Faults& faults,
                      Texts& notes) {
  if (a.bandwidth == b.bandwidth) return;
  if (!a.bandwidth || !b.bandwidth) {
    Report(faults, Kind::kLimit,
           fmt::format("{}: the cpu controller was switched {} {}", b.path,
                       b.bandwidth ? "on" : "off", when));
    return;
  }
  // Without a quota the period means nothing.
  if (!a.bandwidth->limited() && !b.bandwidth->limited()) return;
  if (KernelScaled(*a.bandwidth, *b.bandwidth)) {
    notes.push_back(
        fmt::format("{}: period changed during run: the kernel scaled {} up to {}, the same share",
                    b.path, ToString(*a.bandwidth), ToString(*b.bandwidth)));
    return;
  }
  Report(faults, Kind::kLimit,
         fmt::format("limit changed {}: {} had {}, then {}", when, b.path, ToString(*a.bandwidth),
                     ToString(*b.bandwidth)));
}

std::string SetText(const std::optional<CpuSet>& set) { return set ? set->ToString() : "none"; }

std::string SizeText(const std::optional<ByteSize>& size) {
  return size ? ToString(*size) : "not readable";
}

void CompareOtherLimits(const Snapshot& a, const Snapshot& b, const std::string& when,
                        Faults& faults) {
  if (a.cpuset != b.cpuset) {
    Report(faults, Kind::kLimit,
           fmt::format("cpuset changed {}: {} before, {} after", when, SetText(a.cpuset),
                       SetText(b.cpuset)));
  }
  if (a.online != b.online) {
    Report(faults, Kind::kLimit,
           fmt::format("online CPUs changed {}: {} before, {} after", when, a.online.ToString(),
                       b.online.ToString()));
  }
  if (a.memory.limit != b.memory.limit || a.memory.swap_limit != b.memory.swap_limit) {
    Report(faults, Kind::kLimit,
           fmt::format("memory limit changed {}: {} (plus swap {}) before, {} (plus swap {}) after",
                       when, SizeText(a.memory.limit), SizeText(a.memory.swap_limit),
                       SizeText(b.memory.limit), SizeText(b.memory.swap_limit)));
  }
}

std::int64_t Count(std::int64_t value) { return value; }
std::int64_t Count(nanoseconds value) { return value.count(); }

// One fault for a counter that shrank or that was there before and is no longer.
template <typename T>
void CompareCounter(const std::string& name, const std::optional<T>& before,
                    const std::optional<T>& after, Faults& faults) {
  if (!before) return;
  if (!after) {
    Report(faults, Kind::kCounter, fmt::format("{} vanished during measurement", name));
  } else if (*after < *before) {
    Report(faults, Kind::kCounter,
           fmt::format("{} went backwards, from {} to {}: counters were reset", name,
                       Count(*before), Count(*after)));
  }
}

void CompareLevelCounters(const CpuLevel& a, const CpuLevel& b, Faults& faults) {
  CompareCounter(b.path + ": time held", a.held_time, b.held_time, faults);
  if (!a.counters) return;
  if (!b.counters) {
    Report(faults, Kind::kCounter,
           fmt::format("{}: nr_periods vanished during measurement", b.path));
    return;
  }
  const auto compare = [&](const char* name, auto before, auto after) {
    CompareCounter(fmt::format("{}: {}", b.path, name), std::optional(before), std::optional(after),
                   faults);
  };
  compare("nr_periods", a.counters->periods, b.counters->periods);
  compare("nr_throttled", a.counters->throttled_periods, b.counters->throttled_periods);
  compare("throttled time (ns)", a.counters->throttled_time, b.counters->throttled_time);
  CompareCounter(b.path + ": nr_bursts", a.counters->bursts, b.counters->bursts, faults);
  CompareCounter(b.path + ": burst time (ns)", a.counters->burst_time, b.counters->burst_time,
                 faults);
}

}  // namespace

void CompareLimits(const Snapshot& before, const Snapshot& after, const std::string& when,
                   Faults& faults, Texts& notes) {
  for (std::size_t i = 0; i < after.cpu.size(); ++i) {
    CompareBandwidth(before.cpu[i], after.cpu[i], when, faults, notes);
  }
  CompareOtherLimits(before, after, when, faults);
}

void Compare(const Snapshot& before, const Snapshot& after, Faults& faults, Texts& notes) {
  if (after.time <= before.time) {
    Report(faults, Kind::kCounter, "the second snapshot is not later than the first");
  }
  if (!CompareIdentity(before, after, faults)) return;
  CompareLimits(before, after, "during measurement", faults, notes);
  for (std::size_t i = 0; i < after.cpu.size(); ++i) {
    CompareLevelCounters(before.cpu[i], after.cpu[i], faults);
  }
  CompareCounter("CPU usage (ns)", before.usage, after.usage, faults);
  CompareCounter("oom_kill", before.memory.oom_kills, after.memory.oom_kills, faults);
  CompareCounter("CPU pressure (ns)", before.pressure.cpu_some, after.pressure.cpu_some, faults);
  CompareCounter("memory pressure (ns)", before.pressure.memory_some, after.pressure.memory_some,
                 faults);
}

}  // namespace throttletest::internal
