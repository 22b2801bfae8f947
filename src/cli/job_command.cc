#include "cli/job_command.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/measure_command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "throttletest/report/job_table.h"
#include "throttletest/report/json.h"

namespace throttletest::cli {
namespace {

std::string NameOf(const JobSpec& spec) {
  return spec.command.empty() ? spec.image : spec.command[0];
}

std::string TableOf(const Measurement& job, const Measurement& unlimited) {
  JobTable table;
  table.Add("unlimited", unlimited);
  table.Add(ToString(job.requested), job);
  return table.ToString();
}

// What it wrote is where a job that failed told why.
void TellEnd(const JobRun& job) {
  if (job.succeeded()) return;
  Tell(fmt::format("the job {}; the end of its output:\n{}{}", job.ToString(), job.end.logs,
                   job.end.logs.ends_with('\n') ? "" : "\n"));
}

std::vector<BudgetResult> Evaluate(const std::vector<Budget>& budgets, const Measurement& job,
                                   const std::optional<Measurement>& unlimited) {
  std::vector<BudgetResult> results;
  for (const Budget& budget : budgets) {
    const bool compares = unlimited && budget.metric() == Metric::kElapsedRatio;
    results.push_back((compares ? budget.Against(ReferenceOf(*unlimited)) : budget).Evaluate(job));
  }
  return results;
}

}  // namespace

ExitStatus RunOneJob(const JobText& text) {
  JobSettings settings = Understand(text);
  const VerdictText& verdict = text.run.verdict;
  const Interrupt interrupt;
  Progress progress(verdict.quiet);
  UseHostLock(settings.lock, progress);
  settings.options.stop = interrupt.token();
  settings.options.progress = [&](const MeasureProgress& p) {
    progress.Running(std::chrono::seconds(p.done / 1000));
  };

  progress.Step(fmt::format("running {}", NameOf(settings.spec)));
  const Measurement job = RunJob(settings.spec, settings.options);
  std::optional<Measurement> unlimited;
  if (text.compare_unlimited && !interrupt.requested()) {
    progress.Step(fmt::format("running {} without limits", NameOf(settings.spec)));
    JobSpec free = settings.spec;
    free.limits = {};
    unlimited = RunJob(free, settings.options);
  }
  progress.Done();

  const std::vector<BudgetResult> results = Evaluate(settings.budgets, job, unlimited);
  // The file first: a closed pipe on stdout must not lose the run.
  const bool written =
      verdict.json.empty() ||
      WriteJson(verdict.json, ToJson(job, results, unlimited ? &*unlimited : nullptr));
  if (unlimited) Print(TableOf(job, *unlimited) + "\n");
  PrintVerdicts(job, results);
  TellEnd(*job.job);
  if (interrupt.requested()) {
    Tell("throttletest: interrupted; the job was stopped\n");
    return kInterrupted;
  }
  const ExitStatus status = Judge(job, results);
  return status == kBudgetsMet && !written ? kOwnError : status;
}

}  // namespace throttletest::cli
