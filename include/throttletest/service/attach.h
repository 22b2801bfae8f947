// AttachService: measure a service that runs already and was started by somebody else.
//
//   auto service = AttachService({.target = RunningContainer("web"), .port = 8080});
//   const Measurement m = MeasureService(*service, plan, Get("/"));
//
// It is only looked at: never stopped, signalled, limited or otherwise changed. The limits it is
// measured under are those it is found under.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "throttletest/service/readiness.h"
#include "throttletest/service/service.h"
#include "throttletest/service/service_spec.h"

namespace throttletest {

// Which service. Made by the functions below.
class AttachTarget {
 public:
  enum class Kind { kProcess, kContainer, kCgroup };

  Kind kind() const { return kind_; }
  pid_t pid() const { return pid_; }                 // kProcess; else 0
  const std::string& name() const { return name_; }  // kContainer, and kCgroup's path; else empty
  LauncherKind engine() const { return engine_; }    // kContainer: kDocker, kPodman, or kAuto
  // "process 4242", "container web", "cgroup /sys/fs/cgroup/a".
  std::string ToString() const;

  friend bool operator==(const AttachTarget&, const AttachTarget&) = default;

 private:
  explicit AttachTarget(Kind kind) : kind_(kind) {}

  Kind kind_;
  pid_t pid_ = 0;
  std::string name_ = {};
  LauncherKind engine_ = LauncherKind::kAuto;

  friend AttachTarget RunningProcess(pid_t pid);
  friend AttachTarget RunningContainer(std::string name_or_id, LauncherKind engine);
  friend AttachTarget RunningCgroup(std::string path);
};

// The service whose main process is `pid`, a number in this process's PID namespace. What is
// measured is that process's cgroup with everything in it. Errors: kInvalidArgument below 1.
AttachTarget RunningProcess(pid_t pid);
// The container with this name, id or beginning of an id. kAuto asks docker and podman.
// Errors: kInvalidArgument for a text that is no container's name, or an engine that is none.
AttachTarget RunningContainer(std::string name_or_id, LauncherKind engine = LauncherKind::kAuto);
// What is in this cgroup: its directory, such as "/sys/fs/cgroup/system.slice/web.service". On
// cgroup v1 the directory is of one controller; the others are found from the process in it. The
// main process is, of those in the cgroup and below it, the oldest that listens on the port, or
// else the oldest. Errors: kInvalidArgument for a path that does not start with '/'.
AttachTarget RunningCgroup(std::string path);

// Plain data. `target` has to be given.
struct AttachSpec {
  AttachTarget target;
  // Where the load goes to, at 127.0.0.1. It is checked that the service listens there, except for
  // a process or cgroup in a network namespace of its own: a proxy may listen in its place, so make
  // sure that it leads to the service. Units: 1..65535. Absent: 0, the load goes to a Unix
  // socket (MeasureOptions::unix_path) or through a Custom() transport.
  std::uint16_t port = 0;
  // What to wait for. Absent: nothing is waited for, but somebody has to answer at the port.
  std::optional<Readiness> ready = {};
};

// Finds the service and holds on to it. The result is like that of StartService(), except that
// launcher() is kAttached, requested() is what was found in force, Update() is refused, and Stop()
// says how the service is and leaves it running. A service that ends, is restarted, leaves its
// cgroup or is given other limits makes a measurement inconclusive.
//
// Errors: kInvalidArgument; kNotReady when there is no such process or container, it does not run,
// the cgroup is empty, or the port does not answer; kUnsupported when the cgroup also holds this
// process, whose load would be counted along, when somebody else listens on the port, or when the
// engine's containers are not on this host; kNoContainerRuntime, kPermission; kCgroup, also for a
// service in the root cgroup; kInterrupted.
std::unique_ptr<Service> AttachService(const AttachSpec& spec, const std::stop_token& stop = {});

}  // namespace throttletest
