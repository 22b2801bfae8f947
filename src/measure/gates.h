// The validity gates: which faults a window has.
#pragma once

#include <chrono>

#include "measure/assemble.h"
#include "throttletest/cgroup/delta.h"
#include "throttletest/measure/host_activity.h"
#include "throttletest/measure/validity.h"

namespace throttletest::internal {

// The bound on start lag that is in force: the one given, or the default for these requests.
std::chrono::nanoseconds StartLagBound(const WindowInputs& inputs);

// Looks through all gates. A service that ended explains everything after it (refused requests, an
// unreadable cgroup, a run cut short), so those are not told again. Errors: none.
Validity JudgeValidity(const WindowInputs& inputs, const CgroupDelta& delta,
                       const HostActivity& host);

}  // namespace throttletest::internal
