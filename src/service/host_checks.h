// The single checks that InspectHost() is made of; each takes what it looks at, so that tests can
// make it up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/cgroup_place.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/cgroup/snapshot.h"
#include "throttletest/service/host.h"

namespace throttletest::internal {

// "cgroup cpu": on which version and where, or missing.
HostFinding ControllerFinding(const std::string& controller, bool required,
                              const std::optional<ControllerLocation>& location);
// "cgroup permission": where this user may make cgroups, and which limits it cannot set there.
HostFinding PermissionFinding(const PlaceAnswer& answer);
// "launcher docker": `lack` is what ...LauncherLack() says; `version` of a usable one.
HostFinding LauncherFinding(const std::string& name, const std::string& lack,
                            const std::string& version);
// "cores": all online CPUs, those that this process may use, and its own limit. A generator that is
// itself limited makes runs inconclusive.
HostFinding CoresFinding(const CpuSet& online, const CpuSet& usable,
                         const std::optional<EffectiveCpuLimit>& own);
// "swap accounting": whether memory_swap can be enforced.
HostFinding SwapFinding(const CgroupLocation& location, const std::string& fs_root = "");
// "pressure": whether stall times are published.
HostFinding PressureFinding(const std::string& proc_root = "/proc");
// "bandwidth slice": how much quota a CPU takes at once.
HostFinding SliceFinding(const std::string& proc_root = "/proc");
// "host lock": who measures now, or why several processes cannot be kept apart. `path` is that of
// HostLockOptions.
HostFinding HostLockFinding(const std::string& path);
// "leftovers": things of owners that died.
HostFinding LeftoversFinding(const std::vector<std::string>& leftovers);

}  // namespace throttletest::internal
