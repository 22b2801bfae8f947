// Whether a run was measured under the limits that are declared for deployment.
#pragma once

#include <string>

#include "throttletest/cgroup/limits.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// The limits in the kernel's units; their cpuset need not exist on this machine, because they are
// not to be put in force here. Errors: as ResolveLimits().
ResolvedLimits ResolveDeclared(const Limits& declared);

// What differs, "CPU 200 ms per 100 ms (2.0 CPUs) instead of ...". Empty: nothing. Swap counts only
// where it was declared, because an attached container may have any.
std::string LimitsDiffer(const Limits& declared, const Measurement& m);

}  // namespace throttletest::internal
