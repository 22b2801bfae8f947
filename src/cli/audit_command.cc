#include "cli/audit_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/option_values.h"
#include "cli/output.h"
#include "throttletest/deploy/audit.h"
#include "throttletest/deploy/deployment_file.h"

namespace throttletest::cli {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// As JSON has it elsewhere: null, and the reason beside it.
void SetOutcome(Json& document, Json& absences, const char* key, const Outcome<double>& outcome) {
  document[key] = OrNull(outcome.optional());
  if (!outcome.has_value()) absences[key] = outcome.reason();
}

const char* KindName(DeployedService::Kind kind) {
  switch (kind) {
    case DeployedService::Kind::kService:
      return "service";
    case DeployedService::Kind::kContainer:
      return "container";
    case DeployedService::Kind::kInit:
      return "init";
    case DeployedService::Kind::kSidecar:
      return "sidecar";
  }
  return "unknown";
}

std::optional<std::int64_t> Bytes(const std::optional<ByteSize>& size) {
  if (!size) return std::nullopt;
  return size->bytes();
}

Json ServiceJson(const DeployedService& service) {
  Json declared = Json::array();
  for (const LimitOrigin& origin : service.limits.origins) {
    declared.push_back({{"file", origin.file},
                        {"line", origin.line},
                        {"key", origin.key},
                        {"value", origin.value}});
  }
  return {{"name", service.name},
          {"kind", KindName(service.kind)},
          {"file", service.file},
          {"line", service.line},
          {"replicas", service.replicas},
          {"cpu_limit", OrNull(service.cpu_limit())},
          {"cpu_request", OrNull(service.cpu_request)},
          {"memory_limit_bytes", OrNull(Bytes(service.limits.memory))},
          {"memory_request_bytes", OrNull(Bytes(service.memory_request))},
          {"declared", declared}};
}

const char* VerdictText(const Audit& audit) {
  if (!audit.fits.has_value()) return "inconclusive";
  return audit.fits.value() ? "met" : "missed";
}

void PrintJson(const Audit& audit) {
  Json document;
  Json absences = Json::object();
  document["schema"] = "throttletest/audit/1";
  document["verdict"] = VerdictText(audit);
  document["host_cpus"] = audit.host_cpus;
  document["max_overcommit"] = audit.bounds.max_overcommit;
  document["max_idle"] = OrNull(audit.bounds.max_idle);
  document["limited_cpus"] = audit.limited_cpus;
  SetOutcome(document, absences, "sum_of_limits", audit.sum_of_limits);
  SetOutcome(document, absences, "idle_cpus", audit.idle_cpus);
  document["sum_of_requests"] = audit.sum_of_requests;
  document["services"] = Json::array();
  for (const DeployedService& service : audit.services) {
    document["services"].push_back(ServiceJson(service));
  }
  document["findings"] = Json::array();
  for (const AuditFinding& finding : audit.findings) {
    document["findings"].push_back({{"kind", AuditFindingName(finding.kind)},
                                    {"breaks", finding.breaks},
                                    {"text", finding.text}});
  }
  document["not_available"] = absences;
  Print(
      fmt::format("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace

void DeclareAuditOptions(CLI::App& app, AuditText& text) {
  app.add_option("files", text.files, "Compose files and Kubernetes manifests")
      ->required()
      ->type_name("FILE");
  app.add_option("--cpus", text.cpus, "CPUs of the machine to judge for (those of this one)");
  app.add_option("--max-overcommit", text.max_overcommit,
                 "Limits may add up to this many times the CPUs (1)");
  app.add_option("--max-idle", text.max_idle, "CPUs that may be left to nobody (any number)");
  app.add_option("--profile", text.profiles, "Profile of the Compose files that is active");
  app.add_flag("--json", text.json, "As JSON");
  CheckValues(app);
}

ExitStatus AuditFiles(const AuditText& text) {
  AuditBounds bounds;
  if (!text.max_overcommit.empty()) {
    bounds.max_overcommit = NumberOption("--max-overcommit", text.max_overcommit);
  }
  if (!text.max_idle.empty()) bounds.max_idle = NumberOption("--max-idle", text.max_idle);
  DeployedServices services;
  for (const std::string& file : text.files) {
    const DeployedServices of_file = ServicesFromFile(file, {.profiles = text.profiles});
    services.insert(services.end(), of_file.begin(), of_file.end());
  }
  const Audit audit = AuditLimits(services, {.cpus = text.cpus}, bounds);
  text.json ? PrintJson(audit) : Print(ToString(audit));
  if (!audit.fits.has_value()) return kInconclusive;
  return audit.fits.value() ? kBudgetsMet : kBudgetMissed;
}

}  // namespace throttletest::cli
