// DeployedService: what a Compose file or a Kubernetes manifest says of one service's limits.
//
//   for (const DeployedService& s : ServicesFromFile("compose.yaml")) {
//     std::cout << s.name << " " << s.cpu_limit().value_or(0) << "\n";
//   }
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/byte_size.h"
#include "throttletest/cgroup/limits.h"

namespace throttletest {

// One service of a Compose file, or one container of a pod. Plain data.
struct DeployedService {
  enum class Kind {
    kService,    // of a Compose file
    kContainer,  // of a pod
    kInit,       // runs to its end before the containers of its pod start
    kSidecar,    // an init container that goes on running (restartPolicy: Always)
  };

  std::string name;  // "web"; of a manifest "Deployment/api/web"
  std::string pod;   // "Deployment/api": whose containers share a pod. Empty: of a Compose file
  Kind kind = Kind::kService;
  std::string file;
  int line = 0;  // 1-based, where the service begins
  // What the runtime is told. Each limit names its line in `origins`.
  Limits limits;
  // CPU and memory set aside for it: deploy.resources.reservations, resources.requests (where a
  // manifest has none, Kubernetes takes the limit). Absent: nothing is set aside.
  std::optional<double> cpu_request;
  std::optional<ByteSize> memory_request;
  // The line of the CPU request. Absent: none, or it is the limit's.
  std::optional<LimitOrigin> cpu_request_origin;
  // How many of it run: scale, deploy.replicas, spec.replicas, parallelism. Units: >= 0. A service
  // of a profile that is not active, and a suspended job, has 0.
  int replicas = 1;
  // What has to be known about these figures: roundings, services that are not started, files that
  // were not read.
  std::vector<std::string> notes;

  // The most CPU one of it can use: the smaller of quota / period and the CPUs of the cpuset.
  // Units: CPUs. Absent: not limited.
  std::optional<double> cpu_limit() const;
};

using DeployedServices = std::vector<DeployedService>;

}  // namespace throttletest
