#include "fuzz/control_files_probe.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "cgroup/parse.h"
#include "cgroup/proc_files.h"
#include "throttletest/base/error.h"

namespace throttletest::testing_support {
namespace {

using std::chrono::nanoseconds;

void Hold(bool property, const char* what) {
  if (!property) throw std::logic_error(what);
}

void HoldNotNegative(const std::optional<nanoseconds>& time) {
  Hold(!time || time->count() >= 0, "a time is not negative");
}

void ProbeCpuStat(CgroupVersion version, std::string_view text) {
  const internal::CpuStat stat = internal::ParseCpuStat(version, text, "cpu.stat");
  for (const auto& time : {stat.usage, stat.user, stat.system, stat.held_time}) {
    HoldNotNegative(time);
  }
  if (!stat.counters) return;
  Hold(stat.counters->periods >= 0, "a count is not negative");
  Hold(stat.counters->throttled_periods >= 0, "a count is not negative");
}

void ProbePressure(std::string_view text) {
  const internal::Pressure pressure = internal::ParsePressure(text, "cpu.pressure");
  HoldNotNegative(pressure.some);
  HoldNotNegative(pressure.full);
}

void ProbeProcCgroup(std::string_view text) {
  for (const internal::ProcCgroupEntry& entry : internal::ParseProcCgroup(text, "cgroup")) {
    Hold(!entry.unified || entry.controllers.empty(), "v2 names no controllers");
  }
}

void ProbeMountInfo(std::string_view text) {
  for (const internal::CgroupMount& mount : internal::ParseMountInfo(text, "mountinfo")) {
    Hold(!mount.root.empty() && mount.root.front() == '/', "a mount has a root");
    Hold(!mount.mount_point.empty(), "a mount has a place");
  }
}

void Probe(unsigned char parser, std::string_view text) {
  std::vector<std::string> notes;
  switch (parser % 12) {
    case 0:
      return ProbeCpuStat(CgroupVersion::kV1, text);
    case 1:
      return ProbeCpuStat(CgroupVersion::kV2, text);
    case 2:
      return Hold(internal::ParseCpuMax(text, "cpu.max", &notes).period.count() > 0,
                  "a period is above 0");
    case 3:
      internal::ParseCfsQuota(text, "cpu.cfs_quota_us");
      return;
    case 4:
      return Hold(internal::ParseCfsPeriod(text, "cpu.cfs_period_us").count() > 0,
                  "a period is above 0");
    case 5:
      return Hold(internal::ParseMicroseconds(text, "cpu.max.burst").count() >= 0,
                  "a time is not negative");
    case 6:
      return Hold(internal::ParseCount(text, "memory.current") >= 0, "a count is not negative");
    case 7:
      internal::ParseMemoryLimit(text, "memory.max");
      return;
    case 8:
      internal::ParseFlatKey(text, "memory.events", "oom_kill");
      return;
    case 9:
      return ProbePressure(text);
    case 10:
      return ProbeProcCgroup(text);
    default:
      return ProbeMountInfo(text);
  }
}

}  // namespace

void ProbeControlFiles(std::string_view input) {
  if (input.empty()) return;
  try {
    Probe(static_cast<unsigned char>(input.front()), input.substr(1));
  } catch (const Error& error) {
    Hold(error.code() == ErrorCode::kParse, "what cannot be read is a parse error");
  }
}

}  // namespace throttletest::testing_support
