// Instance: a system under test that a launcher has just started. The seam between launchers.
//
// StartService() does everything that is the same for all launchers (validation, port, readiness,
// reading limits back, updates); a launcher only starts, limits and ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "service/end_watch.h"
#include "throttletest/cgroup/limits.h"
#include "throttletest/cgroup/snapshot.h"
#include "throttletest/service/service.h"

namespace throttletest::internal {

// What a launcher tells of a job's first moment.
struct JobBegin {
  Snapshot before;  // its cgroup before the program's first instruction
  std::chrono::steady_clock::time_point started;
  // The program may have begun so much before `started`. Units: >= 0.
  std::chrono::nanoseconds at_most_before{0};
  std::unique_ptr<EndWatch> end;  // never null after a start
};

// What a launcher gets: a ServiceSpec with {port} filled in and limits resolved.
struct LaunchRequest {
  std::vector<std::string> command;
  std::map<std::string, std::string> env;         // without the secret ones
  std::map<std::string, std::string> secret_env;  // never on a command line, never logged
  std::string image;
  std::vector<std::string> files;    // for the image that is built
  std::uint16_t port = 0;            // on 127.0.0.1
  std::uint16_t container_port = 0;  // Absent: 0, the container shares the host's network
  ResolvedLimits limits;             // what to start with; no limits for start_unlimited
  // Filled in by the launcher of a job. Absent: null, it is a service.
  JobBegin* job = nullptr;
};

// A running system under test. The destructor ends it and removes everything that was made for it.
class Instance {
 public:
  virtual ~Instance() = default;
  virtual pid_t pid() const = 0;
  virtual const Cgroup& cgroup() const = 0;
  // The main process has not ended. Thread-safe.
  virtual bool Running() const = 0;
  // How the main process ended. Absent (both empty): it runs. Thread-safe.
  virtual ExitReport Peek() const = 0;
  // The last 64 KiB of stdout and stderr. Thread-safe.
  virtual std::string Logs() const = 0;
  // Puts other limits in force. Errors: kServiceStart with the file or command and its answer.
  virtual void Apply(const ResolvedLimits& limits) = 0;
  // SIGTERM, `grace`, SIGKILL for all processes; OOM evidence; removal. Idempotent. Errors: none.
  virtual ExitReport Stop(std::chrono::nanoseconds grace) = 0;
  virtual std::string version() const = 0;  // "cgroup v1", "docker 20.10.24 (cgroupfs)"
  // As Service::found(): only an attached one has something that was found.
  virtual const Snapshot* found() const { return nullptr; }
};

// Can a launcher work here? Absent: empty means yes, else the lack and the way out in one sentence.
std::string CgroupLauncherLack();
std::string DockerLauncherLack();
std::string PodmanLauncherLack();

// Start, or undo everything and throw. Errors: as StartService().
std::unique_ptr<Instance> LaunchInCgroup(const LaunchRequest& request);
std::unique_ptr<Instance> LaunchInDocker(const LaunchRequest& request);
std::unique_ptr<Instance> LaunchInPodman(const LaunchRequest& request);

}  // namespace throttletest::internal
