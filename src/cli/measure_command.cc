#include "cli/measure_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "cli/output.h"
#include "throttletest/report/json.h"
#include "throttletest/report/text.h"

namespace throttletest::cli {
namespace {

// A service that has ended by itself has a story to tell, and its log is where it told it.
void PrintEnd(const ExitReport& end) {
  if (end.stopped_by_us || end.still_runs) return;
  Tell(fmt::format("the service {}; the end of its output:\n{}\n", end.ToString(), end.logs));
}

}  // namespace

ExitStatus Judge(const Measurement& m, const std::vector<BudgetResult>& results) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(results.begin(), results.end(),
                       [&](const BudgetResult& r) { return r.verdict == verdict; });
  };
  if (!m.validity.trusted()) return kInconclusive;
  if (any(Verdict::kMissed)) return kBudgetMissed;
  if (any(Verdict::kInconclusive)) return kInconclusive;
  return kBudgetsMet;
}

void PrintVerdicts(const Measurement& m, const std::vector<BudgetResult>& results) {
  Print(Details(m));
  for (const BudgetResult& result : results) {
    std::string verdict = VerdictName(result.verdict);
    std::transform(verdict.begin(), verdict.end(), verdict.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    Print(fmt::format("{} {}: {}\n", verdict, result.budget, result.explanation));
  }
}

bool WriteJson(const std::string& path, const std::string& json) {
  try {
    WriteFile(path, json);
    return true;
  } catch (const Error& e) {
    Tell(fmt::format("throttletest: {}\n", e.what()));
    return false;
  }
}

void UseHostLock(HostLockOptions lock, Progress& progress) {
  lock.on_wait = [&progress](const std::string& what) { progress.Step(what); };
  SetHostLock(std::move(lock));
}

ExitStatus MeasureAndJudge(Service& service, MeasureSettings settings, const std::string& json,
                           const Interrupt& interrupt, Progress& progress) {
  settings.options.stop = interrupt.token();
  settings.options.progress = [&](const MeasureProgress& p) { progress.Update(p); };
  const Measurement m = MeasureService(service, settings.traffic, settings.options);
  progress.Done();
  const ExitReport end = service.Stop();

  std::vector<BudgetResult> results;
  for (const Budget& budget : settings.budgets) results.push_back(budget.Evaluate(m));
  // The file first: a closed pipe on stdout must not lose the run.
  const bool written = json.empty() || WriteJson(json, ToJson(m, results));
  PrintVerdicts(m, results);
  PrintEnd(end);
  if (interrupt.requested()) {
    Tell(fmt::format("throttletest: interrupted; the service was {}\n",
                     end.still_runs ? "left running" : "stopped"));
    return kInterrupted;
  }
  const ExitStatus status = Judge(m, results);
  return status == kBudgetsMet && !written ? kOwnError : status;
}

}  // namespace throttletest::cli
