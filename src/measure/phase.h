// Phase: where in an enforcement period the batches of a schedule start. A quota that starts again
// in the middle of a burst holds a burst that is otherwise too large, so batches that all start at
// the same point of a period show one case again and again.
#pragma once

#include <chrono>

#include "throttletest/load/schedule.h"

namespace throttletest::internal {

// True when three or more batches start at the same point of a period, give or take a twentieth.
// Units: period > 0.
bool IsInPhase(const Schedule& schedule, std::chrono::nanoseconds period);

// The same batches, each up to a period later, so that they start at points all over it. Absent:
// unchanged when batches are less than two periods apart, which would then overtake each other.
Schedule OutOfPhase(const Schedule& schedule, std::chrono::nanoseconds period);

}  // namespace throttletest::internal
