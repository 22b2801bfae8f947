// Putting limits in force: the order of the writes and what a refusal means.
#include "cgroup/writer.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "cgroup/control_file.h"
#include "cgroup/parse.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::microseconds;

std::string Text(microseconds time) { return std::to_string(time.count()); }

std::string BytesText(CgroupVersion version, const std::optional<ByteSize>& size) {
  if (size && !size->unlimited()) return std::to_string(size->bytes());
  return version == CgroupVersion::kV2 ? "max" : "-1";
}

const char* QuotaFile(CgroupVersion version) {
  return version == CgroupVersion::kV2 ? "cpu.max" : "cpu.cfs_quota_us";
}

const char* BurstFile(CgroupVersion version) {
  return version == CgroupVersion::kV2 ? "cpu.max.burst" : "cpu.cfs_burst_us";
}

// The limits of one directory as they are. Absent: it has no bandwidth files.
std::optional<CpuBandwidth> ReadBandwidth(CgroupVersion version, const std::string& directory) {
  const std::string quota_path = JoinPath(directory, QuotaFile(version));
  const auto quota = ReadFileIfPresent(quota_path);
  if (!quota) return std::nullopt;
  CpuBandwidth bandwidth;
  if (version == CgroupVersion::kV2) {
    bandwidth = ParseCpuMax(*quota, quota_path);
  } else {
    const std::string period_path = JoinPath(directory, "cpu.cfs_period_us");
    bandwidth.quota = ParseCfsQuota(*quota, quota_path);
    bandwidth.period = ParseCfsPeriod(ReadFile(period_path), period_path);
  }
  const std::string burst_path = JoinPath(directory, BurstFile(version));
  if (const auto burst = ReadFileIfPresent(burst_path)) {
    bandwidth.burst = ParseMicroseconds(*burst, burst_path);
  }
  return bandwidth;
}

[[noreturn]] void ThrowMissing(const char* controller, const std::string& wanted) {
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("cannot limit {}: the {} controller is not available here", wanted, controller));
}

// "; above it /a allows 50 ms per 100 ms (0.5 CPUs)": why v1 refuses a quota that is in range.
std::string LimitsAbove(const ControllerLocation& location, const std::string& fs_root) {
  std::string path = location.relative_path;
  std::string text;
  while (path != "/") {
    const auto slash = path.rfind('/');
    path = slash == 0 ? "/" : path.substr(0, slash);
    const std::string directory = JoinPath(JoinPath(fs_root, location.mount_point), path);
    try {
      const auto above = ReadBandwidth(location.version, directory);
      if (above && above->limited()) {
        text += fmt::format("; the level {} above it allows {}", path, ToString(*above));
      }
    } catch (const Error&) {
      // This text only decorates another error.
      return text;
    }
  }
  return text;
}

void WriteCpu(const ControllerLocation& location, const CpuBandwidth& wanted,
              const std::string& fs_root) {
  const std::string directory = JoinPath(fs_root, location.directory());
  const auto current = ReadBandwidth(location.version, directory);
  if (!current) {
    if (!wanted.limited()) return;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("cannot set {}: {} has no {}; the cpu controller is not enabled for it "
                            "(systemd: Delegate=cpu)",
                            ToString(wanted), directory, QuotaFile(location.version)));
  }
  for (const ControlWrite& write : PlanCpuWrites(location.version, *current, wanted)) {
    try {
      WriteControlFile(directory, write.file, write.value);
    } catch (const Error& e) {
      throw Error(e.code(), fmt::format("{} (asked for {}){}", e.what(), ToString(wanted),
                                        LimitsAbove(location, fs_root)));
    }
  }
}

void WriteCpuset(const ControllerLocation& location, const std::optional<CpuSet>& wanted,
                 const std::string& fs_root) {
  const std::string directory = JoinPath(fs_root, location.directory());
  const bool v1 = location.version == CgroupVersion::kV1;
  if (v1) InheritCpuset(directory);
  if (wanted) {
    WriteControlFile(directory, "cpuset.cpus", wanted->ToString());
    return;
  }
  // On v2 an empty list means "as the parent", but kernels (6.1) refuse to empty that of a cgroup
  // with processes in it, with ENOSPC: what the parent has is written in both versions.
  const auto list = ReadFileIfPresent(JoinPath(directory, "cpuset.cpus"));
  if (!list || Trim(*list).empty()) return;
  const char* parent = v1 ? "../cpuset.cpus" : "../cpuset.cpus.effective";
  WriteControlFile(directory, "cpuset.cpus", Trim(ReadFile(JoinPath(directory, parent))));
}

// Without swap accounting nothing can be asked of swap, except what holds anyway.
bool MaySkipSwap(const ResolvedLimits& wanted) {
  if (!wanted.memory || !wanted.memory_and_swap) return true;
  const std::int64_t memory = wanted.memory->bytes();
  const std::int64_t both = wanted.memory_and_swap->bytes();
  return both == memory || both - memory == memory;
}

void WriteMemory(const ControllerLocation& location, const ResolvedLimits& wanted,
                 const std::string& fs_root) {
  const std::string directory = JoinPath(fs_root, location.directory());
  const bool v1 = location.version == CgroupVersion::kV1;
  const std::string memory_file = v1 ? "memory.limit_in_bytes" : "memory.max";
  const std::string swap_file = v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max";
  const std::string swap_path = JoinPath(directory, swap_file);
  const auto swap = ReadFileIfPresent(swap_path);
  if (!wanted.memory && !ReadFileIfPresent(JoinPath(directory, memory_file))) return;
  const ByteSize current = swap && v1 ? ParseMemoryLimit(*swap, swap_path) : ByteSize::Unlimited();
  for (const ControlWrite& write : PlanMemoryWrites(location.version, current, wanted)) {
    if (write.file == swap_file && !swap && MaySkipSwap(wanted)) continue;
    WriteControlFile(directory, write.file, write.value);
  }
}

}  // namespace

std::vector<ControlWrite> PlanCpuWrites(CgroupVersion version, const CpuBandwidth& current,
                                        const CpuBandwidth& wanted) {
  std::vector<ControlWrite> plan;
  const bool v2 = version == CgroupVersion::kV2;
  // The kernel keeps burst <= quota at every instant, so a burst that would not fit goes first.
  if (current.burst.count() != 0 && (!wanted.quota || current.burst > *wanted.quota)) {
    plan.push_back({BurstFile(version), "0"});
  }
  if (v2) {
    plan.push_back({"cpu.max", fmt::format("{} {}", wanted.quota ? Text(*wanted.quota) : "max",
                                           wanted.period.count())});
  } else {
    const ControlWrite quota{"cpu.cfs_quota_us", wanted.quota ? Text(*wanted.quota) : "-1"};
    const ControlWrite period{"cpu.cfs_period_us", Text(wanted.period)};
    // A child's share may not pass its parent's for a moment: with the longer of the two periods
    // and the other quota the share in between is never above both ends.
    const bool period_first = wanted.period > current.period;
    plan.push_back(period_first ? period : quota);
    plan.push_back(period_first ? quota : period);
  }
  // Written even when it seems in force: some kernels shrink the burst when the quota is written.
  if (wanted.burst.count() != 0) {
    plan.push_back({BurstFile(version), Text(wanted.burst)});
  } else if (current.burst.count() != 0 && plan.front().file != BurstFile(version)) {
    plan.push_back({BurstFile(version), "0"});
  }
  return plan;
}

std::vector<ControlWrite> PlanMemoryWrites(CgroupVersion version, ByteSize current_memory_and_swap,
                                           const ResolvedLimits& wanted) {
  const std::optional<ByteSize> both = wanted.memory ? wanted.memory_and_swap : std::nullopt;
  if (version == CgroupVersion::kV2) {
    std::optional<ByteSize> swap = both;
    if (swap) swap = ByteSize(both->bytes() - wanted.memory->bytes());
    return {{"memory.max", BytesText(version, wanted.memory)},
            {"memory.swap.max", BytesText(version, swap)}};
  }
  const ControlWrite memory{"memory.limit_in_bytes", BytesText(version, wanted.memory)};
  const ControlWrite sum{"memory.memsw.limit_in_bytes", BytesText(version, both)};
  // The kernel keeps memory <= memory+swap at every instant.
  const bool raising =
      !both || (!current_memory_and_swap.unlimited() && *both >= current_memory_and_swap);
  if (raising) return {sum, memory};
  return {memory, sum};
}

void WriteLimits(const CgroupLocation& location, const ResolvedLimits& limits,
                 const std::string& fs_root) {
  if (!location.cpu && limits.cpu.limited()) ThrowMissing("cpu", ToString(limits.cpu));
  if (!location.cpuset && limits.cpuset) ThrowMissing("cpuset", limits.cpuset->ToString());
  if (!location.memory && limits.memory) ThrowMissing("memory", ToString(*limits.memory));
  if (location.cpuset) WriteCpuset(*location.cpuset, limits.cpuset, fs_root);
  if (location.memory) WriteMemory(*location.memory, limits, fs_root);
  if (location.cpu) WriteCpu(*location.cpu, limits.cpu, fs_root);
}

}  // namespace throttletest::internal
