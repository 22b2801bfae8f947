// The limits of a Kubernetes manifest, so that a test runs under the very limits that are deployed.
//
//   .limits = LimitsFromManifest(SOURCE_DIR "/deploy/api.yaml", "web")
#pragma once

#include <string>

#include "throttletest/cgroup/limits.h"
#include "throttletest/deploy/deployed_service.h"

namespace throttletest {

// The limits of one container as the kubelet gives them to the runtime: resources.limits of Pod,
// Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob and List, in
// one or several documents, init containers as well. Other kinds are passed over.
//
// CPU is rounded up to thousandths, then taken times 100 ms, at least 1 ms; memory is rounded up to
// bytes. A container with a memory limit gets no swap, the kubelet's default.
//
// `container`: its name; when several objects have one of that name, "NAME/CONTAINER" or
//         "KIND/NAME/CONTAINER".
// Absent: a container that has no limit gives none (Limits{}).
// Errors: kInvalidArgument with file, line, reason and the quoted text: the file cannot be read or
//         is no manifest, no or several containers of that name, a quantity is not understood, a
//         kind with containers is not known, limits are set for the pod as a whole.
// Source: kubelet's MilliCPUToQuota and its NoSwap behaviour; Quantity of k8s.io/apimachinery.
Limits LimitsFromManifest(const std::string& file, const std::string& container);

// All containers of the file, in its order. Errors: as LimitsFromManifest().
DeployedServices ServicesFromManifest(const std::string& file);

}  // namespace throttletest
