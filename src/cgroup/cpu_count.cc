#include "throttletest/cgroup/cpu_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/refuse.h"

namespace throttletest {
namespace {

using internal::Refuse;

// In whole microseconds, because 0.3 CPUs times a period is no whole number in floating point. A
// quota has no upper bound that an int would hold.
int Whole(std::int64_t cpus) {
  return static_cast<int>(std::min<std::int64_t>(cpus, std::numeric_limits<int>::max()));
}
int Floor(const CpuBandwidth& cpu) { return Whole(cpu.quota->count() / cpu.period.count()); }
int Ceil(const CpuBandwidth& cpu) {
  const std::int64_t quota = cpu.quota->count();
  const std::int64_t period = cpu.period.count();
  return Whole(quota / period + (quota % period == 0 ? 0 : 1));
}
int Nearest(const CpuBandwidth& cpu) {
  const std::int64_t quota = cpu.quota->count();
  const std::int64_t period = cpu.period.count();
  return Whole(quota / period + (quota % period * 2 >= period ? 1 : 0));
}

void Check(const CpuView& view) {
  if (view.allowed < 1 || view.online < view.allowed) {
    Refuse(
        fmt::format("{} allowed CPUs of {} online ones are not possible: a process has at least "
                    "one, and no more than the machine",
                    view.allowed, view.online));
  }
}

}  // namespace

const char* RuntimeName(Runtime runtime) {
  switch (runtime) {
    case Runtime::kHotSpot:
      return "HotSpot";
    case Runtime::kGo:
      return "Go 1.25";
    case Runtime::kGoBefore125:
      return "Go before 1.25";
    case Runtime::kAutomaxprocs:
      return "automaxprocs";
    case Runtime::kDotNet:
      return ".NET";
    case Runtime::kNprocBefore98:
      return "nproc before 9.8";
    case Runtime::kNproc:
      return "nproc 9.8";
    case Runtime::kOpenMp:
      return "OpenMP (libgomp)";
    case Runtime::kHardwareConcurrency:
      return "std::thread::hardware_concurrency";
  }
  return "unknown";
}

CpuView ViewUnder(const Limits& limits, const CpuSet& online) {
  const ResolvedLimits resolved = ResolveLimits(limits, online);
  CpuView view{.allowed = online.count(), .online = online.count()};
  if (resolved.cpu.limited()) view.quota = resolved.cpu;
  if (resolved.cpuset) view.allowed = resolved.cpuset->count();
  return view;
}

CpuView ViewOf(const Snapshot& snapshot) {
  CpuView view{.quota = snapshot.EffectiveCpu().quota,
               .allowed = snapshot.online.count(),
               .online = snapshot.online.count()};
  if (snapshot.cpuset && !snapshot.cpuset->empty()) {
    view.allowed = std::min(view.allowed, snapshot.cpuset->count());
  }
  return view;
}

int DerivedCpuCount(Runtime runtime, const CpuView& view) {
  Check(view);
  const bool limited = view.quota && view.quota->limited();
  switch (runtime) {
    case Runtime::kHotSpot:
    case Runtime::kDotNet:
      return limited ? std::min(view.allowed, *ThreadsOfQuota(*view.quota)) : view.allowed;
    case Runtime::kGo:
      return limited ? std::min(view.allowed, std::max(2, Ceil(*view.quota))) : view.allowed;
    case Runtime::kAutomaxprocs:
      return limited ? std::max(1, Floor(*view.quota)) : view.allowed;
    case Runtime::kNproc:
      return limited && view.cgroup_v2 ? std::min(view.allowed, std::max(1, Nearest(*view.quota)))
                                       : view.allowed;
    case Runtime::kGoBefore125:
    case Runtime::kNprocBefore98:
    case Runtime::kOpenMp:
      return view.allowed;
    case Runtime::kHardwareConcurrency:
      return view.online;
  }
  return view.allowed;
}

std::optional<int> ThreadsOfQuota(const CpuBandwidth& quota) {
  if (!quota.limited()) return std::nullopt;
  return std::max(1, Ceil(quota));
}

}  // namespace throttletest
