// Service: a running system under test. Start() makes one; the destructor leaves nothing behind.
//
//   auto service = StartService(spec);
//   ... service->port() ...
//   ExitReport end = service->Stop();
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "throttletest/cgroup/snapshot.h"
#include "throttletest/service/service_spec.h"

namespace throttletest {

// How a service ended.
struct ExitReport {
  std::optional<int> exit_code;  // Absent: ended by a signal or not known
  std::optional<int> signal;
  // OOM kills in the service's cgroup, read before the cgroup was removed. Absent: not known.
  std::optional<std::int64_t> oom_kills;
  bool stopped_by_us = false;  // it ran until Stop(); its status then says nothing about its health
  bool still_runs = false;     // it was attached to, and Stop() left it as it was
  std::string logs;            // the end of what it wrote to stdout and stderr (at most 64 KiB)

  // "exited with status 3", "killed by SIGKILL, no OOM recorded", "OOM-killed (1 kill)", "was left
  // running".
  std::string ToString() const;
};

// A service under limits. Not thread-safe, except alive() and logs().
class Service {
 public:
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  virtual LauncherKind launcher() const = 0;
  // "docker 20.10.24 (cgroupfs)", "cgroup v1"; of an attached service what it is: "docker container
  // web", "process 4242 (nginx)".
  virtual std::string launcher_version() const = 0;
  virtual std::uint16_t port() const = 0;
  virtual pid_t pid() const = 0;  // main process, in this process's PID namespace
  virtual const Cgroup& cgroup() const = 0;
  virtual const ServiceSpec& spec() const = 0;
  // What was asked for; of an attached service what was found in force.
  virtual const ResolvedLimits& requested() const = 0;
  // Everything in force when the service was attached to. Absent: null, it was started by us.
  virtual const Snapshot* found() const { return nullptr; }
  // The main process runs.
  virtual bool alive() const = 0;
  // Empty while the service runs where and as it was started; else what happened, for the validity
  // gate: "exited with status 1", "process 17 moved to /other".
  virtual std::string Trouble() const = 0;
  virtual std::string logs() const = 0;

  // Changes the limits of the running service and reads them back. v1's ordering of quota and
  // period is handled. Errors: kInvalidArgument, also for an attached service, whose limits are not
  // ours to change; kServiceStart when they did not take.
  virtual void Update(const Limits& limits) = 0;

  // Ends the service and all its processes, reads the OOM evidence, removes cgroup, container and
  // image. Idempotent: later calls return the same report. An attached service is left running.
  // Errors: none; what could not be removed is in the report's logs and is left to the sweep at the
  // next start.
  virtual ExitReport Stop() = 0;

 protected:
  Service() = default;
};

// Starts `spec`, waits until it is ready and checks that its limits are in force. First waits until
// no other process on this machine starts or measures; see host_lock.h.
//
// On any failure everything that was made is removed before the exception leaves.
// Errors: kInvalidArgument (before anything is started); kUnsupported / kPermission /
// kNoContainerRuntime with the way out (kUnsupported also when others measure for too long);
// kServiceStart when limits did not take ("effective burst 20
// us, requested 20000 us") or the program cannot be run; kNotReady with the reason, the check's
// last answer and the last log lines; kInterrupted.
std::unique_ptr<Service> StartService(const ServiceSpec& spec, const std::stop_token& stop = {});

// The launcher kAuto stands for on this machine. Errors: kUnsupported listing each with its lack.
LauncherKind ResolveAuto(const ServiceSpec& spec);

}  // namespace throttletest
