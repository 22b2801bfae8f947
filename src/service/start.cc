#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <set>

#include "service/cgroup_sweep.h"
#include "service/engine_sweep.h"
#include "service/host_turn.h"
#include "service/instance.h"
#include "service/job_start.h"
#include "service/port.h"
#include "service/running_service.h"
#include "service/spec_check.h"
#include "service/wait_ready.h"
#include "throttletest/base/error.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/cgroup/read_back.h"
#include "throttletest/service/service.h"

namespace throttletest {
namespace {

using internal::Instance;
using internal::LaunchRequest;
using internal::PortTaken;
using internal::RunningService;

// Ports are picked at random, so that a second stranger in a row is next to impossible.
constexpr int kPortTries = 4;

std::string LackOf(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::kDocker:
      return internal::DockerLauncherLack();
    case LauncherKind::kPodman:
      return internal::PodmanLauncherLack();
    default:
      return internal::CgroupLauncherLack();
  }
}

std::unique_ptr<Instance> Launch(LauncherKind kind, const LaunchRequest& request) {
  switch (kind) {
    case LauncherKind::kDocker:
      return internal::LaunchInDocker(request);
    case LauncherKind::kPodman:
      return internal::LaunchInPodman(request);
    default:
      return internal::LaunchInCgroup(request);
  }
}

// What dead owners left is removed once in each process and for each launcher that it uses.
void SweepOnce(LauncherKind kind) {
  static std::mutex mutex;
  static std::set<LauncherKind> swept;
  const std::lock_guard lock(mutex);
  if (!swept.insert(kind).second) return;
  if (kind == LauncherKind::kCgroup) {
    internal::SweepCgroupLeftovers();
  } else {
    internal::SweepEngineLeftovers(kind);
  }
}

void ThrowIfStopped(const std::stop_token& stop) {
  if (stop.stop_requested()) {
    throw Error(ErrorCode::kInterrupted, "stopped while it was being started");
  }
}

// One start on one port. Leaving by an exception ends and removes everything.
std::unique_ptr<Service> StartOnce(const ServiceSpec& spec, LauncherKind kind,
                                   const ResolvedLimits& limits, const std::stop_token& stop) {
  const std::uint16_t port = internal::PickPort();
  const LaunchRequest request =
      internal::MakeRequest(spec, port, spec.start_unlimited ? ResolvedLimits{} : limits);
  auto service = std::make_unique<RunningService>(spec, kind, port, limits, Launch(kind, request));
  ThrowIfStopped(stop);
  if (!spec.start_unlimited) service->RequireLimits("right after the start");
  service->AwaitReady(stop);
  if (spec.start_unlimited) service->Clamp();
  service->RequireLimits("once the service is ready");
  return service;
}

ServiceSpec AsService(const JobSpec& job) {
  return {.command = job.command,
          .limits = job.limits,
          .image = job.image,
          .files = job.files,
          .env = job.env,
          .secret_env = job.secret_env,
          .launcher = job.launcher,
          .stop_grace = job.stop_grace};
}

// The limits as they were before the program's first instruction.
void RequireLimits(const ResolvedLimits& limits, const Snapshot& before) {
  const ReadBack read_back = CheckLimits(limits, before);
  if (read_back.ok()) return;
  throw Error(ErrorCode::kServiceStart,
              fmt::format("the limits of the job are not in force when it starts: {}",
                          fmt::join(read_back.differences, "; ")));
}

}  // namespace

std::unique_ptr<Service> StartService(const ServiceSpec& spec, const std::stop_token& stop) {
  const LauncherKind kind =
      spec.launcher == LauncherKind::kAuto ? ResolveAuto(spec) : spec.launcher;
  internal::CheckSpec(spec, kind);
  const ResolvedLimits limits = ResolveLimits(spec.limits, OnlineCpus());
  ThrowIfStopped(stop);
  // A start uses CPU that others who measure would miss, and theirs would make it slow.
  const internal::HostTurn turn(stop);
  SweepOnce(kind);
  for (int attempt = 1;; ++attempt) {
    try {
      return StartOnce(spec, kind, limits, stop);
    } catch (const PortTaken& taken) {
      if (attempt < kPortTries && internal::UsesPort(spec)) continue;
      throw Error(ErrorCode::kNotReady,
                  fmt::format("the port picked for the service is listened on by {}, not by the "
                              "service; nothing was sent to it",
                              taken.who));
    }
  }
}

namespace internal {

LauncherKind CheckJob(const JobSpec& spec) {
  const ServiceSpec service = AsService(spec);
  const LauncherKind kind =
      spec.launcher == LauncherKind::kAuto ? ResolveAuto(service) : spec.launcher;
  CheckSpec(service, kind);
  ResolveLimits(spec.limits, OnlineCpus());
  return kind;
}

StartedJob StartJob(const JobSpec& spec, const std::stop_token& stop) {
  ServiceSpec service = AsService(spec);
  const LauncherKind kind = CheckJob(spec);
  const ResolvedLimits limits = ResolveLimits(spec.limits, OnlineCpus());
  ThrowIfStopped(stop);
  SweepOnce(kind);
  StartedJob job;
  const LaunchRequest request{.command = spec.command,
                              .env = spec.env,
                              .secret_env = spec.secret_env,
                              .image = spec.image,
                              .files = spec.files,
                              .limits = limits,
                              .job = &job.begin};
  std::unique_ptr<Instance> instance = Launch(kind, request);
  RequireLimits(limits, job.begin.before);
  job.service = std::make_unique<RunningService>(std::move(service), kind, std::uint16_t{0}, limits,
                                                 std::move(instance));
  return job;
}

}  // namespace internal

LauncherKind ResolveAuto(const ServiceSpec& spec) {
  const char* wish = std::getenv("THROTTLETEST_LAUNCHER");
  if (wish != nullptr && *wish != '\0') {
    const LauncherKind kind = ParseLauncher(wish);
    if (kind != LauncherKind::kAuto) return kind;
  }
  std::string lacks;
  for (const LauncherKind kind :
       {LauncherKind::kCgroup, LauncherKind::kDocker, LauncherKind::kPodman}) {
    const bool engine_only = !spec.image.empty() || spec.container_port;
    const std::string lack = kind == LauncherKind::kCgroup && engine_only
                                 ? "the service needs a container engine (image or container_port)"
                                 : LackOf(kind);
    if (lack.empty()) return kind;
    lacks += fmt::format("\n  {}: {}", LauncherName(kind), lack);
  }
  throw Error(ErrorCode::kUnsupported, "no launcher works on this machine:" + lacks);
}

}  // namespace throttletest
