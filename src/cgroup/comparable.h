// May two snapshots be subtracted?
#pragma once

#include <string>
#include <vector>

#include "throttletest/cgroup/delta.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// Adds what forbids it to `faults` (another cgroup, a limit that moved, a counter that went
// backwards) and what is harmless to `notes` (the kernel scaled period and quota alike).
void Compare(const Snapshot& before, const Snapshot& after, std::vector<CgroupFault>& faults,
             std::vector<std::string>& notes);

// Only what of that concerns limits, of two snapshots of one cgroup. `when` is for the texts:
// "during measurement".
void CompareLimits(const Snapshot& before, const Snapshot& after, const std::string& when,
                   std::vector<CgroupFault>& faults, std::vector<std::string>& notes);

}  // namespace throttletest::internal
