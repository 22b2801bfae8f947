// `throttletest audit`: do the limits of deployment files fit a machine?
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_status.h"

namespace throttletest::cli {

// Options as typed.
struct AuditText {
  std::vector<std::string> files;
  std::optional<int> cpus;
  std::string max_overcommit;
  std::string max_idle;
  std::vector<std::string> profiles;
  bool json = false;
};

void DeclareAuditOptions(CLI::App& app, AuditText& text);

// Prints the audit as text or JSON. Status: budgets met when the limits fit, missed when they do
// not, inconclusive when a service has no limit. Errors: kInvalidArgument for files that are not
// understood.
ExitStatus AuditFiles(const AuditText& text);

}  // namespace throttletest::cli
