#include "cli/doctor_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "throttletest/service/host.h"

namespace throttletest::cli {
namespace {

const char* StatusName(HostFinding::Status status) {
  switch (status) {
    case HostFinding::Status::kOk:
      return "ok";
    case HostFinding::Status::kWarning:
      return "warning";
    case HostFinding::Status::kLack:
      return "lack";
  }
  return "unknown";
}

void PrintJson(const HostReport& report) {
  nlohmann::ordered_json document;
  document["schema"] = "throttletest/doctor/1";
  document["can_measure"] = report.can_measure();
  document["usable_launchers"] = report.usable_launchers;
  for (const HostFinding& finding : report.findings) {
    document["findings"].push_back({{"topic", finding.topic},
                                    {"status", StatusName(finding.status)},
                                    {"detail", finding.detail},
                                    {"advice", finding.advice}});
  }
  PrintDocument(document);
}

void PrintText(const HostReport& report) {
  for (const HostFinding& finding : report.findings) {
    Print(fmt::format("{:<8} {:<22} {}\n", StatusName(finding.status), finding.topic,
                      finding.detail));
    if (!finding.advice.empty()) Print(fmt::format("{:<8} {:<22} -> {}\n", "", "", finding.advice));
  }
  if (report.can_measure()) {
    Print(fmt::format("\nThis machine can measure with: {}.\n",
                      fmt::join(report.usable_launchers, ", ")));
  } else {
    Print("\nThis machine cannot measure yet: no launcher works; see the advice above.\n");
  }
}

}  // namespace

ExitStatus Doctor(bool json) {
  const HostReport report = InspectHost();
  json ? PrintJson(report) : PrintText(report);
  return report.can_measure() ? kBudgetsMet : kCannotMeasure;
}

}  // namespace throttletest::cli
