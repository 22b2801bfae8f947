// Comparing the limits that were asked for with the limits that are in force.
#pragma once

#include <string>
#include <vector>

#include "throttletest/cgroup/snapshot.h"

namespace throttletest {

// What CheckLimits() found. `differences` forbids measuring; `notes` is allowed rounding.
struct ReadBack {
  std::vector<std::string> differences;
  std::vector<std::string> notes;
  bool ok() const { return differences.empty(); }
};

// Compares the request with the chain that `snapshot` read.
//
// Allowed: quota within 1 us (or up to 0.01 CPU above: the systemd driver rounds up), memory
// rounded down to a page, the same share in another period (a note). Any other value for a limit
// that was requested is a difference, with the file's value and the request in the text; so is an
// ancestor with a smaller limit, named by path. Absent: with no quota requested, a quota on the
// leaf is a difference and one on an ancestor a note; with no memory limit requested, one in force
// is a note.
ReadBack CheckLimits(const ResolvedLimits& requested, const Snapshot& snapshot);

}  // namespace throttletest
