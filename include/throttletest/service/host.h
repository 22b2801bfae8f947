// HostReport: what this machine can and cannot do, and what to do about each lack.
#pragma once

#include <string>
#include <vector>

namespace throttletest {

// One thing that was looked at.
struct HostFinding {
  enum class Status { kOk, kWarning, kLack };
  std::string topic;  // "cgroup cpu", "launcher docker", "cores"
  Status status = Status::kOk;
  std::string detail;  // what was found
  std::string advice;  // what to do; empty for kOk
};

struct HostReport {
  std::vector<HostFinding> findings;
  // Launchers that would work, by name.
  std::vector<std::string> usable_launchers;
  bool can_measure() const { return !usable_launchers.empty(); }
};

// Looks: cgroup mode per controller, permissions, engines and their daemons, cores, own limits,
// who holds the host-wide lock, leftovers of dead owners. Starts nothing. Errors: none.
HostReport InspectHost();

}  // namespace throttletest
