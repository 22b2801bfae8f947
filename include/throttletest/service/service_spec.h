// ServiceSpec: the system under test - what to run, under which limits, and when it is ready.
//
//   ServiceSpec{.command = {"burn_server", "--port={port}"}, .limits = {.cpus = 2.0},
//               .ready = HttpReady("/healthz")}
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/cgroup/limits.h"
#include "throttletest/service/readiness.h"

namespace throttletest {

enum class LauncherKind {
  kAuto,    // THROTTLETEST_LAUNCHER, else cgroup where it works, else docker, else podman
  kCgroup,  // a cgroup of our own: no daemon, no image
  kDocker,
  kPodman,
  kAttached,  // what AttachService() gives: started by somebody else. Nothing can be started with
              // it
};
// "auto", "cgroup", "docker", "podman", "attached". Errors (Parse): kInvalidArgument quoting a text
// that is none of the first four.
const char* LauncherName(LauncherKind kind);
LauncherKind ParseLauncher(const std::string& name);

// Plain data; every member has an initializer, so that designated ones may leave any out without a
// compiler warning. "{port}" in command and env values becomes the port to listen on (on
// 127.0.0.1).
struct ServiceSpec {
  // What messages and results call it; StartServices() wants one. Empty: its image or program.
  std::string name = {};
  // Program and arguments, run as they are, never through a shell. The program is looked up in PATH
  // when it has no '/'. With `image`, it is the command inside the image (may be empty).
  std::vector<std::string> command = {};
  Limits limits = {};
  // Absent: TcpReady().
  Readiness ready = TcpReady();
  // Container image for docker and podman. Empty: an image is built from the program and the shared
  // libraries it needs. The cgroup launcher refuses a spec that has one.
  std::string image = {};
  // What the program opens at run time: files and whole folders of this machine, by absolute path,
  // such as a script, or the library folder of a runtime. They are put into the image that is built
  // without `image`, under the same path and with the shared libraries that those among them need;
  // links that lead nowhere are left out. For the cgroup launcher they only have to be there. Not
  // together with `image`.
  std::vector<std::string> files = {};
  std::map<std::string, std::string> env = {};  // added to the environment
  std::map<std::string, std::string> secret_env =
      {};  // the same, but never written to reports or logs
  // Port the program listens on inside its container, published on 127.0.0.1 at {port}. Absent: the
  // container shares the host's loopback and the program listens on {port} itself, which keeps the
  // engine's proxy out of the measured path. Only docker and podman.
  std::optional<std::uint16_t> container_port = {};
  LauncherKind launcher = LauncherKind::kAuto;
  // True: boot without the limits and clamp once ready, for services whose start-up would take
  // minutes.
  bool start_unlimited = false;
  // Time between SIGTERM and SIGKILL at Stop(). Units: >= 0, default 2 s.
  std::chrono::nanoseconds stop_grace = std::chrono::seconds(2);
};

}  // namespace throttletest
