#include "cli/job_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/option_values.h"
#include "measure/metric.h"
#include "throttletest/report/json.h"

namespace throttletest::cli {
namespace {

JobSpec ReadSpec(const RunText& text) {
  if (text.command.empty() && text.image.empty()) {
    RefuseOption("nothing to run: put the job's command after --, as in: -- sysbench cpu run");
  }
  return {.command = text.command,
          .limits = ReadLimits(text),
          .image = text.image,
          .env = ReadEnv(text),
          .launcher = ParseLauncher(text.launcher)};
}

// That a job succeeds need not be said.
std::vector<Budget> ReadBudgets(const JobText& text) {
  std::vector<Budget> budgets;
  for (const std::string& word : text.run.verdict.budgets) {
    const Budget budget = ParseBudget(word);
    if (internal::IsOfRequests(budget.metric())) {
      RefuseOption(
          fmt::format("--budget {}: a job gets no requests; budgets of a job are elapsed, "
                      "elapsed_ratio, exit_status, throttle_ratio, throttled_periods, "
                      "throttled_time_per_second, cpu_usage, memory_peak and oom_kills",
                      word));
    }
    if (budget.metric() == Metric::kElapsedRatio && !text.compare_unlimited) {
      RefuseOption(
          fmt::format("--budget {}: there is nothing to compare with; add "
                      "--compare-unlimited, which runs the job once more without limits",
                      word));
    }
    budgets.push_back(budget);
  }
  const bool said = std::any_of(budgets.begin(), budgets.end(), [](const Budget& budget) {
    return budget.metric() == Metric::kExitStatus;
  });
  if (!said) budgets.insert(budgets.begin(), Budget::ExitStatus(Comparison::kAtMost, 0));
  return budgets;
}

}  // namespace

void DeclareJobOptions(CLI::App& app, JobText& text) {
  DeclareLauncherOptions(app, text.run);
  DeclareLimitOptions(app, text.run);
  app.add_option("--timeout", text.timeout, "The job is stopped when it runs longer")
      ->group("Job")
      ->capture_default_str();
  app.add_flag("--compare-unlimited", text.compare_unlimited,
               "Run the job once more without limits, for a table and budgets of elapsed_ratio")
      ->group("Job");
  DeclareJudgeOptions(app, text.run.verdict,
                      "METRIC<BOUND, such as elapsed<10s or "
                      "throttle_ratio<0.05; may be repeated");
  CheckValues(app);
}

JobSettings Understand(const JobText& text) {
  JobSettings settings;
  settings.spec = ReadSpec(text.run);
  settings.options.timeout = DurationOption("--timeout", text.timeout);
  settings.options.bounds = ReadBounds(text.run.verdict);
  settings.options.retries = text.run.verdict.retries;
  settings.budgets = ReadBudgets(text);
  if (text.compare_unlimited && settings.spec.limits == Limits{}) {
    RefuseOption(
        "--compare-unlimited: the job has no limit to compare with; give one, such as "
        "--cpus 0.5");
  }
  Validate(settings.options);
  settings.lock = ReadLock(text.run.verdict);
  if (!text.run.verdict.json.empty()) CheckWritable(text.run.verdict.json);
  return settings;
}

}  // namespace throttletest::cli
