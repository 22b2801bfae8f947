// Reading what container engines say about themselves and their containers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace throttletest::internal {

// What "docker info" or "podman info" says, as far as it decides whether limits can hold.
struct EngineInfo {
  std::string version;           // "20.10.24"
  std::string cgroup_driver;     // "cgroupfs", "systemd", "none"
  int cgroup_version = 0;        // Absent: 0, not said
  std::string operating_system;  // "Docker Desktop" is a virtual machine
  std::string runtime;           // podman only: "crun", "runc"
  bool rootless = false;
  bool remote = false;  // podman only: a client of another machine
  // podman only, and only there meaningful: the controllers the user may use.
  std::vector<std::string> controllers;
  // docker only: what kept its daemon from answering. Absent: empty, it did.
  std::string refusal;
};

// Parse the output of `info --format {{json .}}`. Errors: kParse.
EngineInfo ParseDockerInfo(const std::string& json);
EngineInfo ParsePodmanInfo(const std::string& json);

// A port of the container and where the engine published it.
struct PublishedPort {
  std::uint16_t container_port = 0;
  std::string host_address;
  std::uint16_t host_port = 0;
};

// What `inspect` says about one container.
struct ContainerState {
  std::string id;
  std::string status;  // "created", "running", "exited"
  bool running = false;
  pid_t pid = 0;                 // in the engine's PID namespace. Absent: 0
  std::optional<int> exit_code;  // Absent: it has not ended
  std::optional<bool> oom_killed;
  std::string error;  // the engine's reason for not starting it
  // The CPU limit the engine believes in: NanoCpus, else CpuQuota over CpuPeriod. Units: CPUs.
  // Absent: none. Only a hint; the truth is in the cgroup.
  std::optional<double> cpus;
  std::vector<PublishedPort> ports;

  // The host's port on IPv4 for `container_port`: engines may publish another one on IPv6.
  // Absent: not published on 127.0.0.1 or all IPv4 addresses.
  std::optional<std::uint16_t> HostPort(std::uint16_t container_port) const;
};

// Parses the output of `inspect NAME` (a list with one container). Errors: kParse.
ContainerState ParseInspect(const std::string& json);

}  // namespace throttletest::internal
