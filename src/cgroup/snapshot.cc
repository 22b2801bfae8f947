#include "throttletest/cgroup/snapshot.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "base/number.h"
#include "cgroup/level_files.h"
#include "throttletest/base/error.h"

namespace throttletest {

using internal::ControlFile;
using internal::CpuLevelFiles;
using internal::CpuStat;
using internal::OpenLevel;

// Everything is opened once; optional parts stay empty where the machine has no such controller.
struct Cgroup::State {
  CgroupLocation location;
  OpenLevel leaf;  // the directory whose removal means "gone" and whose processes are listed
  std::vector<CpuLevelFiles> cpu;
  // Usage has a file of its own on v1, and on v2 when cpu.stat of the chain is not the v2 one.
  ControlFile weight;
  ControlFile usage;
  bool usage_from_chain = false;
  std::optional<internal::CpusetFiles> cpuset;
  std::optional<internal::MemoryFiles> memory;
  ControlFile cpu_pressure;
  ControlFile memory_pressure;
  ControlFile online;
  std::string unseen;

  void OpenCpu(const ControllerLocation& cpu, const std::string& fs_root);
  void OpenUsage(const ControllerLocation& cpuacct, const std::string& fs_root);
  void OpenPressure(const ControllerLocation& unified, const std::string& fs_root);
  // A root's counters are the whole machine's, not those of a service in a cpu cgroup of its own.
  bool DescribesService(const ControllerLocation& place) const;
  void RequirePresent() const;
  void ReadUsage(std::string& buffer, const CpuStat& leaf_stat, CpuStat& usage_out) const;
};

namespace {

// Made once a thread: a snapshot reads some fifteen files, a timeline hundreds a second.
std::string& ThreadBuffer() {
  thread_local std::string buffer;
  return buffer;
}

const ControllerLocation& LeafOf(const CgroupLocation& location) {
  if (location.cpu) return *location.cpu;
  if (location.cpuacct) return *location.cpuacct;
  throw Error(
      ErrorCode::kCgroup,
      "this machine offers neither the cpu nor the cpuacct controller here: nothing to read");
}

ControlFile OpenOnline(const std::string& fs_root) {
  const std::string directory = internal::JoinPath(fs_root, "/sys/devices/system/cpu");
  const auto fd = internal::OpenDirectory(directory);
  ControlFile file = ControlFile::Open(fd.get(), directory, "online");
  if (!file.is_open()) {
    throw Error(ErrorCode::kCgroup, fmt::format("cannot read {}: no such file", file.path()));
  }
  return file;
}

}  // namespace

bool Cgroup::State::DescribesService(const ControllerLocation& place) const {
  const bool is_root = place.relative_path == "/" && !place.ancestors_hidden;
  return !is_root || LeafOf(location).relative_path == "/";
}

void Cgroup::State::OpenCpu(const ControllerLocation& place, const std::string& fs_root) {
  std::vector<OpenLevel> chain = internal::OpenChain(place, fs_root);
  weight = ControlFile::Open(chain.front().fd.get(), chain.front().directory,
                             place.version == CgroupVersion::kV2 ? "cpu.weight" : "cpu.shares");
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const bool below_others =
        place.ancestors_hidden || (i + 1 < chain.size() && !chain[i + 1].is_root);
    cpu.emplace_back(std::move(chain[i]), place.version, i == 0, below_others);
  }
}

void Cgroup::State::OpenUsage(const ControllerLocation& cpuacct, const std::string& fs_root) {
  if (!DescribesService(cpuacct)) return;
  if (location.cpu && cpuacct.version == CgroupVersion::kV2 && cpuacct == *location.cpu) {
    usage_from_chain = true;
    return;
  }
  const std::string directory = internal::JoinPath(fs_root, cpuacct.directory());
  const auto fd = internal::OpenDirectory(directory);
  usage = ControlFile::Open(fd.get(), directory,
                            cpuacct.version == CgroupVersion::kV2 ? "cpu.stat" : "cpuacct.usage");
}

void Cgroup::State::OpenPressure(const ControllerLocation& unified, const std::string& fs_root) {
  if (!DescribesService(unified)) return;
  const std::string directory = internal::JoinPath(fs_root, unified.directory());
  const auto fd = internal::OpenDirectory(directory);
  cpu_pressure = ControlFile::Open(fd.get(), directory, "cpu.pressure");
  memory_pressure = ControlFile::Open(fd.get(), directory, "memory.pressure");
}

void Cgroup::State::RequirePresent() const {
  struct stat status {};
  if (::fstat(leaf.fd.get(), &status) != 0 || status.st_nlink == 0) {
    internal::ThrowGone(leaf.directory);
  }
}

// Fills the usage keys of `usage_out`.
void Cgroup::State::ReadUsage(std::string& buffer, const CpuStat& leaf_stat,
                              CpuStat& usage_out) const {
  if (usage_from_chain) {
    usage_out = leaf_stat;
  } else if (usage.is_open() && location.cpuacct->version == CgroupVersion::kV2) {
    usage_out = internal::ParseCpuStat(CgroupVersion::kV2, usage.Read(buffer), usage.path());
  } else if (usage.is_open()) {
    usage_out.usage =
        std::chrono::nanoseconds(internal::ParseCount(usage.Read(buffer), usage.path()));
  }
}

Cgroup::Cgroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cgroup::Cgroup(Cgroup&&) noexcept = default;
Cgroup& Cgroup::operator=(Cgroup&&) noexcept = default;
Cgroup::~Cgroup() = default;

Cgroup Cgroup::Open(const CgroupLocation& location, const std::string& fs_root, bool allow_root) {
  const ControllerLocation& leaf = LeafOf(location);
  if (!allow_root && leaf.relative_path == "/" && !leaf.ancestors_hidden) {
    throw Error(ErrorCode::kCgroup,
                fmt::format("SUT is in the root cgroup ({}), cannot be limited: start it in a "
                            "cgroup of its own",
                            leaf.directory()));
  }
  auto state = std::make_unique<State>();
  state->location = location;
  state->leaf = std::move(internal::OpenChain(leaf, fs_root).front());
  if (location.cpu) state->OpenCpu(*location.cpu, fs_root);
  if (location.cpuacct) state->OpenUsage(*location.cpuacct, fs_root);
  if (location.unified) state->OpenPressure(*location.unified, fs_root);
  if (location.cpuset) {
    state->cpuset.emplace(internal::OpenChain(*location.cpuset, fs_root), location.cpuset->version);
  }
  if (location.memory && state->DescribesService(*location.memory)) {
    state->memory.emplace(internal::OpenChain(*location.memory, fs_root), location.memory->version);
  }
  state->online = OpenOnline(fs_root);
  state->unseen = UnseenLevels(leaf);
  Cgroup cgroup(std::move(state));
  cgroup.Read();  // so that ReadQuick() knows the levels with a quota
  return cgroup;
}

// The kernel itself says when the cgroup is gone: its open files then cannot be read any more.
Snapshot Cgroup::Read() const {
  std::string& buffer = ThreadBuffer();
  Snapshot snapshot;
  snapshot.time = std::chrono::steady_clock::now();
  snapshot.cpu.reserve(state_->cpu.size());
  CpuStat leaf_stat;
  for (const CpuLevelFiles& files : state_->cpu) {
    CpuStat stat;
    snapshot.cpu.push_back(files.Read(buffer, stat, snapshot.notes));
    if (snapshot.cpu.size() == 1) leaf_stat = stat;
  }
  CpuStat usage;
  state_->ReadUsage(buffer, leaf_stat, usage);
  snapshot.usage = usage.usage;
  snapshot.user = usage.user;
  snapshot.system = usage.system;
  if (state_->weight.is_open()) {
    snapshot.cpu_weight = internal::ParseCount(state_->weight.Read(buffer), state_->weight.path());
  }
  if (state_->cpuset) state_->cpuset->Read(buffer, snapshot.cpuset, snapshot.cpuset_path);
  if (state_->memory) snapshot.memory = state_->memory->Read(buffer);
  if (state_->cpu_pressure.is_open()) {
    const auto pressure =
        internal::ParsePressure(state_->cpu_pressure.Read(buffer), state_->cpu_pressure.path());
    snapshot.pressure.cpu_some = pressure.some;
    snapshot.pressure.cpu_full = pressure.full;
  }
  if (state_->memory_pressure.is_open()) {
    const auto pressure = internal::ParsePressure(state_->memory_pressure.Read(buffer),
                                                  state_->memory_pressure.path());
    snapshot.pressure.memory_some = pressure.some;
    snapshot.pressure.memory_full = pressure.full;
  }
  snapshot.online = CpuSet::Parse(state_->online.Read(buffer));
  snapshot.ancestors_hidden = LeafOf(state_->location).ancestors_hidden;
  snapshot.unseen = state_->unseen;
  return snapshot;
}

bool Cgroup::RestartPeak() const { return state_->memory && state_->memory->RestartPeak(); }

Cgroup::Quick Cgroup::ReadQuick(QuickMemory memory) const {
  std::string& buffer = ThreadBuffer();
  Quick quick;
  quick.time = std::chrono::steady_clock::now();
  CpuStat leaf_stat;
  for (std::size_t i = 0; i < state_->cpu.size(); ++i) {
    const CpuLevelFiles& files = state_->cpu[i];
    const bool for_usage = i == 0 && state_->usage_from_chain;
    if (!files.limited() && !for_usage) continue;
    const CpuStat stat = files.ReadStat(buffer);
    if (i == 0) leaf_stat = stat;
    if (files.limited() && stat.counters) internal::Accumulate(*stat.counters, quick.counters);
  }
  CpuStat usage;
  state_->ReadUsage(buffer, leaf_stat, usage);
  quick.usage = usage.usage;
  if (memory == QuickMemory::kRead && state_->memory) {
    quick.memory = state_->memory->ReadUsage(buffer);
  }
  return quick;
}

const CgroupLocation& Cgroup::location() const { return state_->location; }

std::vector<pid_t> Cgroup::Processes() const {
  state_->RequirePresent();
  const std::string text =
      internal::ReadFileAt(state_->leaf.fd.get(), state_->leaf.directory, "cgroup.procs");
  std::vector<pid_t> processes;
  for (const std::string& word : internal::ParseWords(text)) {
    const auto pid = internal::ParseInteger<pid_t>(word);
    if (!pid) {
      throw Error(ErrorCode::kParse, fmt::format("{}/cgroup.procs: line \"{}\": not a process",
                                                 state_->leaf.directory, word));
    }
    processes.push_back(*pid);
  }
  return processes;
}

}  // namespace throttletest
