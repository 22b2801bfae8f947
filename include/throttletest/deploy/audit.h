// Audit: do the limits of some services fit a machine?
//
//   const Audit audit = AuditLimits(ServicesFromFile("compose.yaml"), {.cpus = 4});
//   std::cout << ToString(audit);
//
// Limits that add up to less than the machine has leave CPUs to nobody; limits that add up to more
// promise what is not there when all are busy. Both are allowed everywhere, and nobody says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/deploy/deployed_service.h"

namespace throttletest {

// How far the sum of the limits may be from the machine.
struct AuditBounds {
  // Sum of limits / CPUs of the machine. Units: > 0, default 1: no more is promised than there is.
  double max_overcommit = 1.0;
  // CPUs that no service may use. Absent: any number; they are told all the same.
  std::optional<double> max_idle = {};
};

// The machine the services are to run on.
struct AuditHost {
  // Units: CPUs, above 0. Absent: those that are online here.
  std::optional<int> cpus = {};
};

// Errors: kInvalidArgument: a bound or a number of CPUs is out of range.
void Validate(const AuditHost& host, const AuditBounds& bounds);

struct AuditFinding {
  enum class Kind {
    kIdle,        // the limits leave CPUs to nobody
    kOvercommit,  // the limits add up to more than there is
    kAboveHost,   // one limit is above the machine, or a cpuset names CPUs it does not have
    kRequest,     // a request is above its limit, or the requests above the machine
    kNoLimit,     // a service may use the whole machine
    kNote,        // about how a figure was read
  };
  Kind kind = Kind::kNote;
  bool breaks = false;  // a bound is missed by it
  std::string text;     // with the figures, and file and line where there are some
};
// "idle", "overcommit", "above_host", "request", "no_limit", "note".
const char* AuditFindingName(AuditFinding::Kind kind);

// The sums over all services, times their replicas.
struct Audit {
  DeployedServices services;
  CpuSet host;  // its CPUs
  int host_cpus = 0;
  AuditBounds bounds;
  // Limits of the services that have one. Of a pod, the larger of its containers together and of
  // what its init containers need before. Units: CPUs.
  double limited_cpus = 0;
  // The same when every service has a limit. Absent: inconclusive, one has none.
  Outcome<double> sum_of_limits;
  // host_cpus - sum_of_limits, at least 0. Absent: as sum_of_limits.
  Outcome<double> idle_cpus;
  double sum_of_requests = 0;
  std::vector<AuditFinding> findings;
  // True: no bound is missed. False: one is, whatever else is not known. Absent: inconclusive, a
  // service without a limit may use all there is.
  Outcome<bool> fits;
};

// Errors: kInvalidArgument: no service at all, or bounds that are out of range.
Audit AuditLimits(const DeployedServices& services, const AuditHost& host = {},
                  const AuditBounds& bounds = {});

// One line that decides: "limits add up to 4.5 CPUs of 4: 0.5 CPUs overcommitted (1.125 times)".
std::string Summary(const Audit& audit);
// A table of the services, the sums and the findings, with a final newline.
std::string ToString(const Audit& audit);

}  // namespace throttletest
