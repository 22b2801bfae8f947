// An audit as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "throttletest/deploy/audit.h"

namespace throttletest {
namespace {

constexpr std::size_t kColumns = 7;
using Cells = std::array<std::string, kColumns>;

std::string Number(double value) { return fmt::format("{:.4g}", value); }

std::string Name(const DeployedService& service) {
  switch (service.kind) {
    case DeployedService::Kind::kInit:
      return service.name + " (init)";
    case DeployedService::Kind::kSidecar:
      return service.name + " (sidecar)";
    case DeployedService::Kind::kService:
    case DeployedService::Kind::kContainer:
      break;
  }
  return service.name;
}

Cells Row(const DeployedService& service) {
  const auto limit = service.cpu_limit();
  return {Name(service), fmt::format("{}", service.replicas), limit ? Number(*limit) : "no limit",
          // Part of a pod's start, not of its sum.
          service.kind == DeployedService::Kind::kInit ? "at start"
          : limit                                      ? Number(service.replicas * *limit)
                                                       : "-",
          service.cpu_request ? Number(*service.cpu_request) : "-",
          service.limits.memory ? ToString(*service.limits.memory) : "-",
          fmt::format("{}:{}", service.file, service.line)};
}

std::string Table(const std::vector<Cells>& rows) {
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      std::size_t width = 0;
      for (const Cells& other : rows) width = std::max(width, other[i].size());
      // Numbers are read from the right.
      const bool number = i >= 1 && i <= 5;
      line +=
          number ? fmt::format("{:>{}}  ", row[i], width) : fmt::format("{:<{}}  ", row[i], width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string Summary(const Audit& audit) {
  if (!audit.sum_of_limits.has_value()) {
    return fmt::format("limits that are set add up to {} CPUs of {}, but {}",
                       Number(audit.limited_cpus), audit.host_cpus, audit.sum_of_limits.reason());
  }
  const double sum = audit.sum_of_limits.value();
  std::string text = fmt::format("limits add up to {} CPUs of {}", Number(sum), audit.host_cpus);
  if (sum > audit.host_cpus) {
    text += fmt::format(": {} CPUs overcommitted ({:.4g} times)", Number(sum - audit.host_cpus),
                        sum / audit.host_cpus);
  } else {
    text += fmt::format(": {} CPUs idle", Number(audit.idle_cpus.value()));
  }
  return text;
}

std::string ToString(const Audit& audit) {
  std::vector<Cells> rows = {
      {"service", "replicas", "limit", "all of it", "request", "memory", "where"}};
  for (const DeployedService& service : audit.services) rows.push_back(Row(service));
  std::string text = Table(rows);
  text +=
      fmt::format("\n{}; requests add up to {}.\n", Summary(audit), Number(audit.sum_of_requests));
  for (const AuditFinding& finding : audit.findings) {
    text += fmt::format("{:<7} {:<10} {}\n", finding.breaks ? "MISSED" : "",
                        AuditFindingName(finding.kind), finding.text);
  }
  return text;
}

}  // namespace throttletest
