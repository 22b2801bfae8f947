// What levels above the visible part of the tree did to the levels in it.
#pragma once

#include <chrono>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// The time a leaf was held between two reads beyond what the quotas of its visible levels account
// for. `before` and `after` are one chain, leaf first. Call it only where levels are hidden.
// Not available: the kernel does not tell how long the leaf was held.
Outcome<std::chrono::nanoseconds> HeldByUnseen(const std::vector<CpuLevel>& before,
                                               const std::vector<CpuLevel>& after);

// False where two files that are read one after the other may differ by as much: `held` is what
// HeldByUnseen() says.
bool IsHeldByUnseen(const Outcome<std::chrono::nanoseconds>& held);

}  // namespace throttletest::internal
