// What `throttletest run` and `throttletest attach` do once there is a service.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/verdict_options.h"
#include "throttletest/service/service.h"

namespace throttletest::cli {

// Takes the host-wide lock as it was asked for from now on; waiting is told as progress. `progress`
// must outlive all starts and measurements.
void UseHostLock(HostLockOptions lock, Progress& progress);

// What the verdicts come to.
ExitStatus Judge(const Measurement& m, const std::vector<BudgetResult>& results);
// The figures and one line per budget.
void PrintVerdicts(const Measurement& m, const std::vector<BudgetResult>& results);
// The path was writable before the run; a failure now must neither hide the figures nor look like
// usage, so it is told and false.
bool WriteJson(const std::string& path, const std::string& json);

// Measures the service, stops it (or lets go of an attached one), writes the JSON to the file
// `json` unless that is empty, and prints the figures and one line per budget. Errors:
// throttletest::Error, for main to map.
ExitStatus MeasureAndJudge(Service& service, MeasureSettings settings, const std::string& json,
                           const Interrupt& interrupt, Progress& progress);

}  // namespace throttletest::cli
