#include "throttletest/service/host.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <utility>

#include "service/cgroup_place.h"
#include "service/engine_spec.h"
#include "service/host_checks.h"
#include "service/instance.h"
#include "service/surroundings.h"
#include "throttletest/service/cleanup.h"
#include "throttletest/service/host_lock.h"

namespace throttletest {
namespace {

using Status = HostFinding::Status;
using namespace internal;

// Adds what `check` finds; a check that cannot be made is a finding, too.
void Look(HostReport& report, const std::string& topic, const std::function<HostFinding()>& check) {
  try {
    report.findings.push_back(check());
  } catch (const std::exception& e) {
    report.findings.push_back({.topic = topic,
                               .status = Status::kWarning,
                               .detail = std::string("could not be looked at: ") + e.what(),
                               .advice = "check that /proc and /sys are mounted"});
  }
}

CpuSet UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::set<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
    }
  }
  return CpuSet(std::move(cpus));
}

std::optional<Snapshot> ReadOwn(const CgroupLocation& location) {
  try {
    return Cgroup::Open(location, "", true).Read();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void LookAtCgroups(HostReport& report) {
  CgroupLocation own;
  Look(report, "cgroups", [&] {
    own = LocateCgroup(::getpid());
    const CgroupMode mode = DetectCgroupMode();
    HostFinding finding{
        .topic = "cgroups", .status = Status::kOk, .detail = CgroupModeName(mode), .advice = ""};
    if (mode == CgroupMode::kNone) {
      finding.status = Status::kLack;
      finding.advice = "mount cgroup2 at /sys/fs/cgroup";
    }
    return finding;
  });
  const bool hidden = own.cpu && own.cpu->ancestors_hidden;
  report.findings.push_back(ContainerFinding(Surroundings::Look(hidden)));
  report.findings.push_back(ControllerFinding("cpu", true, own.cpu));
  report.findings.push_back(ControllerFinding("cpuacct", false, own.cpuacct));
  report.findings.push_back(ControllerFinding("cpuset", false, own.cpuset));
  report.findings.push_back(ControllerFinding("memory", false, own.memory));
  report.findings.push_back(PermissionFinding(FindCgroupPlace(CgroupNeeds{})));
  const std::optional<Snapshot> snapshot = ReadOwn(own);
  const bool tells = snapshot && !snapshot->cpu.empty() && snapshot->cpu.front().held_time;
  report.findings.push_back(UnseenFinding(own.cpu, tells));
  Look(report, "cores", [&] {
    return CoresFinding(OnlineCpus(), UsableCpus(),
                        snapshot ? std::optional(snapshot->EffectiveCpu()) : std::nullopt);
  });
  report.findings.push_back(SwapFinding(own));
}

void LookAtLauncher(HostReport& report, LauncherKind kind, const std::string& lack) {
  std::string version = "usable";
  if (lack.empty()) report.usable_launchers.emplace_back(LauncherName(kind));
  if (lack.empty() && kind != LauncherKind::kCgroup) {
    try {
      version = OpenEngine(kind).Describe();
    } catch (const std::exception&) {
      // It answered a moment ago; the finding stays without a version.
    }
  }
  report.findings.push_back(LauncherFinding(LauncherName(kind), lack, version));
}

HostFinding KernelFinding() {
  utsname names{};
  ::uname(&names);
  return {.topic = "kernel", .status = Status::kOk, .detail = names.release, .advice = ""};
}

}  // namespace

HostReport InspectHost() {
  HostReport report;
  report.findings.push_back(KernelFinding());
  LookAtCgroups(report);
  report.findings.push_back(PressureFinding());
  report.findings.push_back(SliceFinding());
  LookAtLauncher(report, LauncherKind::kCgroup, CgroupLauncherLack());
  LookAtLauncher(report, LauncherKind::kDocker, DockerLauncherLack());
  LookAtLauncher(report, LauncherKind::kPodman, PodmanLauncherLack());
  for (HostFinding& finding : report.findings) {
    // One usable launcher is enough to measure.
    const bool launcher = finding.topic.starts_with("launcher ");
    if (launcher && report.can_measure() && finding.status == Status::kLack) {
      finding.status = Status::kWarning;
    }
  }
  Look(report, "host lock", [] { return HostLockFinding(HostLockFromEnvironment().path); });
  Look(report, "leftovers", [] {
    std::vector<std::string> names;
    for (const Leftover& leftover : FindLeftovers().found) names.push_back(leftover.ToString());
    return LeftoversFinding(names);
  });
  return report;
}

}  // namespace throttletest
