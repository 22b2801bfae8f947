// The open control files of one cgroup level, per controller, and how they become figures.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "cgroup/control_file.h"
#include "cgroup/parse.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// One directory of a hierarchy, held open.
struct OpenLevel {
  std::string path;       // relative to the mount, "/" for its root
  std::string directory;  // as opened, for messages
  UniqueFd fd;
  std::uint64_t inode = 0;
  bool is_root = false;  // of the whole hierarchy: it cannot be limited
};

// The leaf and its ancestors up to the mount's root, leaf first. The parents are reached from the
// leaf's descriptor ("..") and not by name, so they are the leaf's own even if names change hands.
// Errors: kCgroup, kPermission.
std::vector<OpenLevel> OpenChain(const ControllerLocation& location, const std::string& fs_root);

// The cpu controller's files of one level. Those of a root above the leaf are not read: it has no
// limit, and nearly every system call of a snapshot is one file.
class CpuLevelFiles {
 public:
  // `below_others`: a level above, seen or not, may have a quota that holds this one.
  CpuLevelFiles(OpenLevel level, CgroupVersion version, bool is_leaf, bool below_others);
  CpuLevelFiles(CpuLevelFiles&& other) noexcept;

  const OpenLevel& level() const { return level_; }
  // Limits and counters; `stat` receives the whole of cpu.stat. Remembers whether a quota is set.
  CpuLevel Read(std::string& buffer, CpuStat& stat, std::vector<std::string>& notes) const;
  CpuStat ReadStat(std::string& buffer) const;
  // Had a quota at the last Read().
  bool limited() const { return limited_.load(std::memory_order_relaxed); }

 private:
  std::optional<CpuBandwidth> ReadBandwidth(std::string& buffer,
                                            std::vector<std::string>& notes) const;

  OpenLevel level_;
  CgroupVersion version_;
  ControlFile stat_;
  ControlFile stat_local_;
  ControlFile quota_;   // v2: cpu.max
  ControlFile period_;  // v1 only
  ControlFile burst_;
  mutable std::atomic<bool> limited_{false};
};

// The memory controller's files: counters of the leaf, limits of the whole chain.
class MemoryFiles {
 public:
  MemoryFiles(std::vector<OpenLevel> chain, CgroupVersion version);
  MemoryCounters Read(std::string& buffer) const;
  std::optional<std::int64_t> ReadUsage(std::string& buffer) const;
  // As Cgroup::RestartPeak().
  bool RestartPeak() const;

 private:
  struct Limit {
    std::string path;
    ControlFile memory;
    ControlFile swap;  // v1: memory plus swap
  };
  void ReadLimits(std::string& buffer, MemoryCounters& counters) const;

  CgroupVersion version_;
  std::vector<OpenLevel> chain_;
  ControlFile peak_;
  ControlFile usage_;
  ControlFile events_;
  std::vector<Limit> limits_;
};

// Adds `counters` to `sum`, which starts empty.
void Accumulate(const BandwidthCounters& counters, std::optional<BandwidthCounters>& sum);

// The nearest level that says which CPUs it may use. A level without the controller, or a v1 group
// whose list is still empty, says nothing.
class CpusetFiles {
 public:
  CpusetFiles(std::vector<OpenLevel> chain, CgroupVersion version);
  // Sets `cpus` and `path`. Absent: left empty when no level says.
  void Read(std::string& buffer, std::optional<CpuSet>& cpus, std::string& path) const;

 private:
  struct List {
    std::string path;
    ControlFile cpus;
  };
  std::vector<OpenLevel> chain_;
  std::vector<List> lists_;
};

}  // namespace throttletest::internal
