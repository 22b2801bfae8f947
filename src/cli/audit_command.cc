#include "cli/audit_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/option_values.h"
#include "cli/output.h"
#include "report/json_series.h"
#include "report/json_writer.h"
#include "throttletest/deploy/audit.h"
#include "throttletest/deploy/deployment_file.h"
#include "throttletest/measure/verdict.h"

namespace throttletest::cli {
namespace {

using internal::Json;

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

Json BytesJson(const std::optional<ByteSize>& size) { return size ? Json(size->bytes()) : Json(); }

Json CpusJson(const std::optional<double>& cpus) { return cpus ? Json(*cpus) : Json(); }

Json ServiceJson(const DeployedService& service) {
  return {{"name", service.name},
          {"kind", KindName(service.kind)},
          {"file", service.file},
          {"line", service.line},
          {"replicas", service.replicas},
          {"cpu_limit", CpusJson(service.cpu_limit())},
          {"cpu_request", CpusJson(service.cpu_request)},
          {"memory_limit_bytes", BytesJson(service.limits.memory)},
          {"memory_request_bytes", BytesJson(service.memory_request)},
          {"declared", internal::OriginsJson(service.limits.origins)}};
}

Verdict VerdictOf(const Audit& audit) {
  if (!audit.fits.has_value()) return Verdict::kInconclusive;
  return audit.fits.value() ? Verdict::kMet : Verdict::kMissed;
}

void PrintJson(const Audit& audit) {
  internal::Absences absences;
  internal::Fields f("", absences);
  f.Set("schema", "throttletest/audit/1");
  f.Set("verdict", VerdictName(VerdictOf(audit)));
  f.Set("host_cpus", audit.host_cpus);
  f.Set("max_overcommit", audit.bounds.max_overcommit);
  f.Set("max_idle", CpusJson(audit.bounds.max_idle));
  f.Set("limited_cpus", audit.limited_cpus);
  f.SetOutcome("sum_of_limits", audit.sum_of_limits);
  f.SetOutcome("idle_cpus", audit.idle_cpus);
  f.Set("sum_of_requests", audit.sum_of_requests);
  Json services = Json::array();
  for (const DeployedService& service : audit.services) services.push_back(ServiceJson(service));
  f.Set("services", services);
  Json findings = Json::array();
  for (const AuditFinding& finding : audit.findings) {
    findings.push_back({{"kind", AuditFindingName(finding.kind)},
                        {"breaks", finding.breaks},
                        {"text", finding.text}});
  }
  f.Set("findings", findings);
  Json document = f.Take();
  document["not_available"] = absences.reasons();
  PrintDocument(document);
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
  switch (VerdictOf(audit)) {
    case Verdict::kMet:
      return kBudgetsMet;
    case Verdict::kMissed:
      return kBudgetMissed;
    case Verdict::kInconclusive:
      break;
  }
  return kInconclusive;
}

}  // namespace throttletest::cli
