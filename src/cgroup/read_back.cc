#include "throttletest/cgroup/read_back.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cgroup/text.h"
#include "throttletest/base/duration.h"

namespace throttletest {
namespace {

using std::chrono::microseconds;

// Whole per cents of a CPU are all that systemd keeps, and it rounds up.
constexpr double kEngineRoundingCpus = 0.01;

const CpuLevel* NearestWithQuota(const Snapshot& snapshot) {
  for (const CpuLevel& level : snapshot.cpu) {
    if (level.bandwidth && level.bandwidth->limited()) return &level;
  }
  return nullptr;
}

std::string LeafPath(const Snapshot& snapshot) {
  return snapshot.cpu.empty() ? "the cgroup" : snapshot.cpu.front().path;
}

void CheckUnlimited(const Snapshot& snapshot, ReadBack& result) {
  const CpuLevel* level = NearestWithQuota(snapshot);
  if (level == nullptr) return;
  const std::string found = fmt::format("{} has {}", level->path, ToString(*level->bandwidth));
  if (level == &snapshot.cpu.front()) {
    result.differences.push_back("no CPU quota requested, but " + found);
  } else {
    result.notes.push_back("no CPU quota requested; an ancestor limits: " + found);
  }
}

void CheckBurst(const CpuBandwidth& wanted, const CpuBandwidth& found, const std::string& path,
                ReadBack& result) {
  // With the period scaled, the burst is scaled along.
  const auto product = [](microseconds burst, microseconds period) {
    return static_cast<double>(burst.count()) * static_cast<double>(period.count());
  };
  const bool scaled = product(wanted.burst, found.period) == product(found.burst, wanted.period);
  if (std::chrono::abs(found.burst - wanted.burst) <= microseconds(1) || scaled) return;
  result.differences.push_back(fmt::format("burst effective {} us, requested {} us ({})",
                                           found.burst.count(), wanted.burst.count(), path));
}

void CheckQuota(const CpuBandwidth& wanted, const CpuLevel& level, ReadBack& result) {
  const CpuBandwidth& found = *level.bandwidth;
  const double asked = *wanted.cpus();
  const double got = *found.cpus();
  const double one_us = 1.0 / static_cast<double>(std::min(wanted.period, found.period).count());
  // A little more than 1 us, because shares are compared as floating point.
  const bool equal = std::abs(got - asked) <= one_us * 1.001;
  const bool rounded_up = got > asked && got - asked <= kEngineRoundingCpus;
  const std::string both =
      fmt::format("requested {}, {} has {}", ToString(wanted), level.path, ToString(found));
  if (!equal && !rounded_up) {
    result.differences.push_back(fmt::format("CPU limit differs: {}: {} CPUs instead of {}", both,
                                             internal::CpusText(got), internal::CpusText(asked)));
    return;
  }
  if (!equal) {
    result.notes.push_back("CPU limit rounded up by the engine: " + both);
  }
  if (found.period != wanted.period) {
    result.notes.push_back(
        "same share but another period, so a burst is held for longer or "
        "shorter: " +
        both);
  }
  CheckBurst(wanted, found, level.path, result);
}

// A smaller limit above the one that was set decides, so the request is not what is in force.
void CheckAncestors(const CpuBandwidth& wanted, const CpuLevel& own, const Snapshot& snapshot,
                    ReadBack& result) {
  const EffectiveCpuLimit effective = snapshot.EffectiveCpu();
  if (effective.quota_path == own.path) return;
  if (*effective.quota->cpus() >= *wanted.cpus()) return;
  result.differences.push_back(
      fmt::format("the ancestor {} allows less than requested: {}, "
                  "requested {}",
                  effective.quota_path, ToString(*effective.quota), ToString(wanted)));
}

void CheckCpu(const CpuBandwidth& wanted, const Snapshot& snapshot, ReadBack& result) {
  if (!wanted.limited()) return CheckUnlimited(snapshot, result);
  const CpuLevel* own = NearestWithQuota(snapshot);
  if (own == nullptr) {
    const bool present = !snapshot.cpu.empty() && snapshot.cpu.front().bandwidth;
    result.differences.push_back(fmt::format(
        "CPU limit not in force: requested {}, {} {}", ToString(wanted), LeafPath(snapshot),
        present ? "reads unlimited"
                : "has no bandwidth files: the cpu controller is not enabled for it (systemd: "
                  "Delegate=cpu)"));
    return;
  }
  CheckQuota(wanted, *own, result);
  if (own != &snapshot.cpu.front() && result.ok()) {
    result.notes.push_back(fmt::format("the CPU limit is on {}, above the service's own cgroup {}",
                                       own->path, LeafPath(snapshot)));
  }
  CheckAncestors(wanted, *own, snapshot, result);
}

void CheckCpuset(const std::optional<CpuSet>& wanted, const Snapshot& snapshot, ReadBack& result) {
  if (!wanted || snapshot.cpuset == wanted) return;
  result.differences.push_back(fmt::format(
      "cpuset differs: requested {}, {}", wanted->ToString(),
      snapshot.cpuset ? fmt::format("{} has {}", snapshot.cpuset_path, snapshot.cpuset->ToString())
                      : std::string("the cpuset controller is not available here")));
}

// Equal, or rounded down to a whole page as the kernel does.
bool SameSize(ByteSize wanted, ByteSize found) {
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  return !found.unlimited() && found <= wanted && wanted.bytes() - found.bytes() < page;
}

void CheckSwap(const ResolvedLimits& wanted, const MemoryCounters& memory, ReadBack& result) {
  if (!memory.swap_limit) {
    result.notes.push_back("swap is not accounted on this machine, so its limit is not checked");
    return;
  }
  const ByteSize asked = wanted.memory_and_swap.value_or(ByteSize::Unlimited());
  const bool same =
      asked.unlimited() ? memory.swap_limit->unlimited() : SameSize(asked, *memory.swap_limit);
  if (same) return;
  result.differences.push_back(fmt::format("memory plus swap differs: requested {}, in force {}",
                                           ToString(asked), ToString(*memory.swap_limit)));
}

void CheckMemory(const ResolvedLimits& wanted, const Snapshot& snapshot, ReadBack& result) {
  const MemoryCounters& memory = snapshot.memory;
  if (!wanted.memory) {
    if (!memory.limit || memory.limit->unlimited()) return;
    result.notes.push_back(fmt::format("no memory limit requested; {} has {}", memory.limit_path,
                                       ToString(*memory.limit)));
    return;
  }
  if (!memory.limit) {
    result.differences.push_back(
        fmt::format("memory limit not in force: requested {}, but the memory controller is not "
                    "available here",
                    ToString(*wanted.memory)));
    return;
  }
  if (!SameSize(*wanted.memory, *memory.limit)) {
    result.differences.push_back(fmt::format(
        "memory limit differs: requested {}, {} has {} ({} bytes)", ToString(*wanted.memory),
        memory.limit_path.empty() ? LeafPath(snapshot) : memory.limit_path, ToString(*memory.limit),
        memory.limit->bytes()));
    return;
  }
  if (*memory.limit != *wanted.memory) {
    result.notes.push_back(
        fmt::format("memory limit rounded down to whole pages: {} bytes", memory.limit->bytes()));
  }
  CheckSwap(wanted, memory, result);
}

}  // namespace

ReadBack CheckLimits(const ResolvedLimits& requested, const Snapshot& snapshot) {
  ReadBack result;
  CheckCpu(requested.cpu, snapshot, result);
  CheckCpuset(requested.cpuset, snapshot, result);
  CheckMemory(requested, snapshot, result);
  return result;
}

}  // namespace throttletest
