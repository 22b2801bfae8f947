#include "throttletest/deploy/deployed_service.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/refuse.h"
#include "deploy/tree.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/deploy/deployment_file.h"

namespace throttletest {

std::optional<double> DeployedService::cpu_limit() const {
  std::optional<double> most = limits.cpus;
  if (limits.quota) {
    const auto period = limits.period.value_or(CpuBandwidth{}.period);
    most = static_cast<double>(limits.quota->count()) / static_cast<double>(period.count());
  }
  if (!limits.cpuset.empty()) {
    const double pinned = CpuSet::Parse(limits.cpuset).count();
    most = std::min(most.value_or(pinned), pinned);
  }
  return most;
}

DeployedServices ServicesFromFile(const std::string& file, const ComposeOptions& options) {
  for (const internal::Node& document : internal::ReadYaml(file)) {
    if (document.Find("kind") != nullptr) return ServicesFromManifest(file);
    if (document.Find("services") != nullptr) return ServicesFromCompose(file, options);
  }
  internal::Refuse(fmt::format(
      "{}: neither a Compose file (\"services\") nor a Kubernetes manifest (\"kind\")", file));
}

}  // namespace throttletest
