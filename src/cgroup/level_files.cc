#include "cgroup/level_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

std::string ParentPath(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::uint64_t InodeOf(const OpenLevel& level) {
  struct stat status {};
  if (::fstat(level.fd.get(), &status) != 0) ThrowGone(level.directory);
  return status.st_ino;
}

ControlFile OpenFile(const OpenLevel& level, const char* name) {
  return ControlFile::Open(level.fd.get(), level.directory, name);
}

}  // namespace

std::vector<OpenLevel> OpenChain(const ControllerLocation& location, const std::string& fs_root) {
  const std::string mount = JoinPath(fs_root, location.mount_point);
  std::vector<OpenLevel> chain;
  for (std::string path = location.relative_path;; path = ParentPath(path)) {
    OpenLevel level;
    level.path = path;
    level.directory = JoinPath(mount, path);
    if (chain.empty()) {
      level.fd = OpenDirectory(level.directory);
    } else {
      level.fd =
          UniqueFd(::openat(chain.back().fd.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!level.fd.valid()) {
        throw Error(ErrorCode::kCgroup, fmt::format("cannot open cgroup {}: {}", level.directory,
                                                    std::strerror(errno)));
      }
    }
    level.inode = InodeOf(level);
    level.is_root = path == "/" && !location.ancestors_hidden;
    chain.push_back(std::move(level));
    if (path == "/") return chain;
  }
}

CpuLevelFiles::CpuLevelFiles(OpenLevel level, CgroupVersion version, bool is_leaf,
                             bool below_others)
    : level_(std::move(level)), version_(version) {
  if (level_.is_root && !is_leaf) return;
  const bool v2 = version == CgroupVersion::kV2;
  stat_ = OpenFile(level_, "cpu.stat");
  if (below_others) stat_local_ = OpenFile(level_, "cpu.stat.local");
  quota_ = OpenFile(level_, v2 ? "cpu.max" : "cpu.cfs_quota_us");
  burst_ = OpenFile(level_, v2 ? "cpu.max.burst" : "cpu.cfs_burst_us");
  if (!v2) period_ = OpenFile(level_, "cpu.cfs_period_us");
}

CpuLevelFiles::CpuLevelFiles(CpuLevelFiles&& other) noexcept
    : level_(std::move(other.level_)),
      version_(other.version_),
      stat_(std::move(other.stat_)),
      stat_local_(std::move(other.stat_local_)),
      quota_(std::move(other.quota_)),
      period_(std::move(other.period_)),
      burst_(std::move(other.burst_)),
      limited_(other.limited()) {}

CpuStat CpuLevelFiles::ReadStat(std::string& buffer) const {
  if (!stat_.is_open()) return {};
  return ParseCpuStat(version_, stat_.Read(buffer), stat_.path());
}

std::optional<CpuBandwidth> CpuLevelFiles::ReadBandwidth(std::string& buffer,
                                                         std::vector<std::string>& notes) const {
  if (!quota_.is_open()) return std::nullopt;
  CpuBandwidth bandwidth;
  if (version_ == CgroupVersion::kV2) {
    bandwidth = ParseCpuMax(quota_.Read(buffer), quota_.path(), &notes);
  } else {
    bandwidth.quota = ParseCfsQuota(quota_.Read(buffer), quota_.path());
    if (!period_.is_open()) {
      throw Error(ErrorCode::kCgroup,
                  fmt::format("{} is missing beside cpu.cfs_quota_us", period_.path()));
    }
    bandwidth.period = ParseCfsPeriod(period_.Read(buffer), period_.path());
  }
  if (burst_.is_open()) bandwidth.burst = ParseMicroseconds(burst_.Read(buffer), burst_.path());
  return bandwidth;
}

CpuLevel CpuLevelFiles::Read(std::string& buffer, CpuStat& stat,
                             std::vector<std::string>& notes) const {
  CpuLevel level;
  level.path = level_.path;
  level.inode = level_.inode;
  stat = ReadStat(buffer);
  level.counters = stat.counters;
  if (stat_local_.is_open()) {
    level.held_time =
        ParseCpuStat(version_, stat_local_.Read(buffer), stat_local_.path()).held_time;
  }
  level.bandwidth = ReadBandwidth(buffer, notes);
  limited_.store(level.bandwidth && level.bandwidth->limited(), std::memory_order_relaxed);
  return level;
}

MemoryFiles::MemoryFiles(std::vector<OpenLevel> chain, CgroupVersion version)
    : version_(version), chain_(std::move(chain)) {
  const bool v2 = version == CgroupVersion::kV2;
  const OpenLevel& leaf = chain_.front();
  peak_ = ControlFile::OpenToWrite(leaf.fd.get(), leaf.directory,
                                   v2 ? "memory.peak" : "memory.max_usage_in_bytes");
  usage_ = OpenFile(leaf, v2 ? "memory.current" : "memory.usage_in_bytes");
  events_ = OpenFile(leaf, v2 ? "memory.events" : "memory.oom_control");
  for (const OpenLevel& level : chain_) {
    if (level.is_root) continue;
    Limit limit{level.path, OpenFile(level, v2 ? "memory.max" : "memory.limit_in_bytes"),
                OpenFile(level, v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes")};
    if (limit.memory.is_open()) limits_.push_back(std::move(limit));
  }
}

void MemoryFiles::ReadLimits(std::string& buffer, MemoryCounters& counters) const {
  const Limit* smallest = nullptr;
  for (const Limit& limit : limits_) {
    const ByteSize bytes = ParseMemoryLimit(limit.memory.Read(buffer), limit.memory.path());
    const bool smaller =
        !counters.limit ||
        (!bytes.unlimited() && (counters.limit->unlimited() || bytes < *counters.limit));
    if (!smaller) continue;
    counters.limit = bytes;
    smallest = &limit;
  }
  if (smallest == nullptr) return;
  if (!counters.limit->unlimited()) counters.limit_path = smallest->path;
  if (!smallest->swap.is_open()) return;
  if (counters.limit->unlimited()) {
    // The kernel keeps memory plus swap (v1) at or above memory alone, and swap on top of no limit
    // (v2) is none either: the file has nothing to add.
    counters.swap_limit = ByteSize::Unlimited();
    return;
  }
  ByteSize swap = ParseMemoryLimit(smallest->swap.Read(buffer), smallest->swap.path());
  if (version_ == CgroupVersion::kV2 && !swap.unlimited()) {
    swap = ByteSize(counters.limit->bytes() + swap.bytes());
  }
  counters.swap_limit = swap;
}

MemoryCounters MemoryFiles::Read(std::string& buffer) const {
  MemoryCounters counters;
  if (peak_.is_open()) counters.peak = ParseCount(peak_.Read(buffer), peak_.path());
  counters.usage = ReadUsage(buffer);
  if (events_.is_open()) {
    counters.oom_kills = ParseFlatKey(events_.Read(buffer), events_.path(), "oom_kill");
  }
  ReadLimits(buffer, counters);
  return counters;
}

std::optional<std::int64_t> MemoryFiles::ReadUsage(std::string& buffer) const {
  if (!usage_.is_open()) return std::nullopt;
  return ParseCount(usage_.Read(buffer), usage_.path());
}

// Before 6.12 a v2 peak cannot be written; from then on any text makes a new one for the descriptor
// it was written to. v1 takes only a number, whichever.
bool MemoryFiles::RestartPeak() const { return peak_.is_open() && peak_.TryWrite("0"); }

CpusetFiles::CpusetFiles(std::vector<OpenLevel> chain, CgroupVersion version)
    : chain_(std::move(chain)) {
  const bool v2 = version == CgroupVersion::kV2;
  for (const OpenLevel& level : chain_) {
    ControlFile file = OpenFile(level, v2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus");
    if (!file.is_open() && !v2) file = OpenFile(level, "cpuset.cpus");
    if (file.is_open()) lists_.push_back({level.path, std::move(file)});
  }
}

void CpusetFiles::Read(std::string& buffer, std::optional<CpuSet>& cpus, std::string& path) const {
  for (const List& list : lists_) {
    CpuSet set = CpuSet::Parse(list.cpus.Read(buffer));
    if (set.empty()) continue;
    cpus = std::move(set);
    path = list.path;
    return;
  }
}

}  // namespace throttletest::internal
