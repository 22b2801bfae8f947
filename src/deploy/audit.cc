#include "throttletest/deploy/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/refuse.h"
#include "throttletest/cgroup/cpu_set.h"
#include "throttletest/cgroup/location.h"

namespace throttletest {
namespace {

using Kind = AuditFinding::Kind;
using internal::Refuse;

// Sums of decimal fractions: what differs by less is the same.
constexpr double kSame = 1e-9;

std::string Cpus(double cpus) { return fmt::format("{:.4g}", cpus); }

// "compose.yaml:7: services.web.cpus: 0.5", or where the service begins.
std::string Where(const DeployedService& service, std::string_view part) {
  for (const LimitOrigin& origin : service.limits.origins) {
    if (origin.key.find(part) != std::string::npos) return ToString(origin);
  }
  return fmt::format("{}:{}", service.file, service.line);
}

// What one pod, or one service of a Compose file, may use at once.
struct Group {
  int replicas = 1;
  double running = 0;   // containers and sidecars
  double sidecars = 0;  // those started so far
  double starting = 0;  // the most that init containers have beside them
  double requests = 0;
  double requests_sidecars = 0;
  double requests_starting = 0;
  bool unlimited = false;

  void Add(const DeployedService& service) {
    replicas = service.replicas;
    const double limit = service.cpu_limit().value_or(0);
    const double request = service.cpu_request.value_or(0);
    if (!service.cpu_limit()) unlimited = true;
    if (service.kind == DeployedService::Kind::kInit) {
      starting = std::max(starting, sidecars + limit);
      requests_starting = std::max(requests_starting, requests_sidecars + request);
      return;
    }
    if (service.kind == DeployedService::Kind::kSidecar) {
      sidecars += limit;
      requests_sidecars += request;
    }
    running += limit;
    requests += request;
  }
  double limit() const { return replicas * std::max(running, starting); }
  double request() const { return replicas * std::max(requests, requests_starting); }
};

class Auditor {
 public:
  Auditor(Audit& audit) : audit_(audit) {}

  void Run() {
    for (const DeployedService& service : audit_.services) {
      // Two files may have services of one name.
      const std::string& name = service.pod.empty() ? service.name : service.pod;
      groups_[{service.file, name}].Add(service);
      JudgeService(service);
    }
    bool unlimited = false;
    for (const auto& [name, group] : groups_) {
      audit_.limited_cpus += group.limit();
      audit_.sum_of_requests += group.request();
      unlimited = unlimited || (group.unlimited && group.replicas > 0);
    }
    JudgeSums(unlimited);
    for (const DeployedService& service : audit_.services) {
      for (const std::string& note : service.notes) Add(Kind::kNote, false, note);
    }
    Conclude(unlimited);
  }

 private:
  void Add(Kind kind, bool breaks, const std::string& text) {
    audit_.findings.push_back({kind, breaks, text});
  }

  void JudgeService(const DeployedService& service) {
    if (service.replicas == 0) return;
    const auto limit = service.cpu_limit();
    const int host = audit_.host_cpus;
    if (!limit) {
      Add(Kind::kNoLimit, false,
          fmt::format("{} has no CPU limit and may use all {} CPUs ({}:{})", service.name, host,
                      service.file, service.line));
    } else if (service.limits.cpus && *service.limits.cpus > host + kSame) {
      Add(Kind::kAboveHost, true,
          fmt::format("{} has a limit of {} CPUs, more than the {} of the machine: {} ({})",
                      service.name, Cpus(*service.limits.cpus), host,
                      service.pod.empty() ? "Docker refuses to start it" : "it never bites",
                      Where(service, "cpu")));
    } else if (*limit > host + kSame) {
      Add(Kind::kAboveHost, true,
          fmt::format("{} may use {} CPUs, more than the {} of the machine: its limit never bites "
                      "({})",
                      service.name, Cpus(*limit), host, Where(service, "cpu")));
    }
    JudgeCpuset(service);
    JudgeRequest(service);
  }

  void JudgeCpuset(const DeployedService& service) {
    if (service.limits.cpuset.empty()) return;
    const CpuSet cpus = CpuSet::Parse(service.limits.cpuset);
    if (audit_.host.Includes(cpus)) return;
    Add(Kind::kAboveHost, true,
        fmt::format("{} is pinned to CPUs {}, and the machine has {}: engines refuse to start it "
                    "({})",
                    service.name, cpus.ToString(), audit_.host.ToString(),
                    Where(service, "cpuset")));
  }

  void JudgeRequest(const DeployedService& service) {
    if (!service.cpu_request) return;
    const double request = *service.cpu_request;
    const auto limit = service.cpu_limit();
    const std::string where =
        service.cpu_request_origin ? ToString(*service.cpu_request_origin) : Where(service, "cpu");
    if (limit && request > *limit + kSame) {
      Add(Kind::kRequest, true,
          fmt::format("{} asks for {} CPUs, more than its limit of {} ({})", service.name,
                      Cpus(request), Cpus(*limit), where));
    } else if (request > audit_.host_cpus + kSame) {
      Add(Kind::kRequest, true,
          fmt::format("{} asks for {} CPUs, more than the {} of the machine: it cannot be placed "
                      "({})",
                      service.name, Cpus(request), audit_.host_cpus, where));
    }
  }

  void JudgeSums(bool unlimited) {
    const double host = audit_.host_cpus;
    const double sum = audit_.limited_cpus;
    if (sum > host + kSame) {
      const bool breaks = sum > host * audit_.bounds.max_overcommit + kSame;
      Add(Kind::kOvercommit, breaks,
          fmt::format("the limits add up to {} CPUs, {} more than the {} of the machine: {:.4g} "
                      "times what there is{}",
                      Cpus(sum), Cpus(sum - host), audit_.host_cpus, sum / host,
                      breaks ? "" : ", within the bound"));
    } else if (!unlimited && sum < host - kSame) {
      const double idle = host - sum;
      const bool breaks = audit_.bounds.max_idle && idle > *audit_.bounds.max_idle + kSame;
      Add(Kind::kIdle, breaks,
          fmt::format(
              "the limits add up to {} CPUs of {}: {} CPUs are given to nobody{}", Cpus(sum),
              audit_.host_cpus, Cpus(idle),
              breaks ? fmt::format(", more than the bound of {}", Cpus(*audit_.bounds.max_idle))
                     : ""));
    }
    if (audit_.sum_of_requests > host + kSame) {
      Add(Kind::kRequest, true,
          fmt::format(
              "the requests add up to {} CPUs, more than the {} of the machine: not all can "
              "be placed",
              Cpus(audit_.sum_of_requests), audit_.host_cpus));
    }
  }

  void Conclude(bool unlimited) {
    const auto without =
        std::count_if(audit_.findings.begin(), audit_.findings.end(),
                      [](const AuditFinding& finding) { return finding.kind == Kind::kNoLimit; });
    const std::string unknown =
        fmt::format("{} of {} services have no CPU limit", without, audit_.services.size());
    if (unlimited) {
      audit_.sum_of_limits = Outcome<double>::Inconclusive(unknown);
      audit_.idle_cpus = Outcome<double>::Inconclusive(unknown);
    } else {
      audit_.sum_of_limits = Outcome<double>::Value(audit_.limited_cpus);
      audit_.idle_cpus =
          Outcome<double>::Value(std::max(0.0, audit_.host_cpus - audit_.limited_cpus));
    }
    const bool broken = std::any_of(audit_.findings.begin(), audit_.findings.end(),
                                    [](const AuditFinding& finding) { return finding.breaks; });
    audit_.fits = broken      ? Outcome<bool>::Value(false)
                  : unlimited ? Outcome<bool>::Inconclusive(unknown)
                              : Outcome<bool>::Value(true);
  }

  Audit& audit_;
  std::map<std::pair<std::string, std::string>, Group> groups_;
};

}  // namespace

void Validate(const AuditHost& host, const AuditBounds& bounds) {
  if (host.cpus && (*host.cpus < 1 || *host.cpus > 65536)) {
    Refuse(fmt::format("{} is not a number of CPUs of a machine, 1..65536", *host.cpus));
  }
  if (!std::isfinite(bounds.max_overcommit) || bounds.max_overcommit <= 0) {
    Refuse(fmt::format("max_overcommit {} is not a number above 0", bounds.max_overcommit));
  }
  if (bounds.max_idle && (!std::isfinite(*bounds.max_idle) || *bounds.max_idle < 0)) {
    Refuse(fmt::format("max_idle {} is not a number of CPUs, 0 or more", *bounds.max_idle));
  }
}

const char* AuditFindingName(AuditFinding::Kind kind) {
  switch (kind) {
    case Kind::kIdle:
      return "idle";
    case Kind::kOvercommit:
      return "overcommit";
    case Kind::kAboveHost:
      return "above_host";
    case Kind::kRequest:
      return "request";
    case Kind::kNoLimit:
      return "no_limit";
    case Kind::kNote:
      return "note";
  }
  return "unknown";
}

Audit AuditLimits(const DeployedServices& services, const AuditHost& host,
                  const AuditBounds& bounds) {
  Validate(host, bounds);
  if (services.empty()) Refuse("there is no service to audit");
  Audit audit;
  audit.services = services;
  audit.bounds = bounds;
  audit.host = host.cpus ? CpuSet::Parse(fmt::format("0-{}", *host.cpus - 1)) : OnlineCpus();
  audit.host_cpus = audit.host.count();
  Auditor(audit).Run();
  return audit;
}

}  // namespace throttletest
