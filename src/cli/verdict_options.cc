#include "cli/verdict_options.h"

#include <fmt/format.h>

#include "cli/option_values.h"
#include "measure/metric.h"
#include "throttletest/report/json.h"

namespace throttletest::cli {

ValidityBounds ReadBounds(const VerdictText& text) {
  ValidityBounds bounds;
  if (!text.max_start_lag.empty()) {
    bounds.start_lag_p99 = DurationOption("--max-start-lag", text.max_start_lag);
  }
  if (!text.max_steal.empty()) bounds.max_steal = NumberOption("--max-steal", text.max_steal);
  if (!text.max_others_cpu.empty()) {
    bounds.max_others_cpu = NumberOption("--max-others-cpu", text.max_others_cpu);
  }
  bounds.max_own_throttled_periods =
      text.max_own_throttled.value_or(bounds.max_own_throttled_periods);
  bounds.min_periods = text.min_periods.value_or(bounds.min_periods);
  return bounds;
}

HostLockOptions ReadLock(const VerdictText& text) {
  HostLockOptions lock = HostLockFromEnvironment();
  if (text.no_lock) lock.path.clear();
  return lock;
}

void DeclareVerdictOptions(CLI::App& app, VerdictText& text) {
  DeclareJudgeOptions(app, text,
                      "METRIC<BOUND, such as throttle_ratio<0.05 or p99<150ms; may be repeated");
  app.add_flag("--until-decided{0.05}", text.until_decided,
               "End as soon as every budget is decided; =RATE: how often it may err (0.05)")
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->group("Verdict");
}

void DeclareJudgeOptions(CLI::App& app, VerdictText& text, const std::string& budget_help) {
  app.add_option("--budget", text.budgets, budget_help)->group("Verdict");
  app.add_option(
         "--max-start-lag", text.max_start_lag,
         "Largest trusted P99 start lag, or lateness at which a job was seen to run (25ms, or "
         "a tenth of the median response or the elapsed time if more)")
      ->group("Verdict");
  app.add_option("--max-steal", text.max_steal,
                 "Largest trusted share of CPU time that the hypervisor took, 0..1 (0.05)")
      ->group("Verdict");
  app.add_option("--max-others-cpu", text.max_others_cpu,
                 "Largest trusted share of CPU time that other processes used, 0..1 (0.25)")
      ->group("Verdict");
  app.add_option("--max-own-throttled", text.max_own_throttled,
                 "Largest trusted number of periods in which this command was throttled (0)")
      ->group("Verdict");
  app.add_option("--min-periods", text.min_periods,
                 "Fewest enforcement periods for a throttle ratio (10)")
      ->group("Verdict");
  app.add_option("--retries", text.retries,
                 "Repeats of a run that the load generator or a busy machine spoiled")
      ->group("Verdict")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  app.add_option("--json", text.json, "Write the result to this file")->group("Verdict");
  app.add_flag("--quiet", text.quiet, "No progress")->group("Verdict");
  app.add_flag("--no-lock", text.no_lock,
               "Do not wait for the measurements of other processes, nor keep them waiting")
      ->group("Verdict");
}

MeasureSettings ReadMeasurement(const LoadText& load, const VerdictText& verdict) {
  MeasureSettings settings;
  settings.traffic = ReadTraffic(load);
  settings.traffic.measured();  // refuses an impossible plan now
  settings.traffic.warm_up();
  for (const std::string& word : verdict.budgets) {
    const Budget budget = ParseBudget(word);
    if (internal::IsOfAJob(budget.metric())) {
      RefuseOption(
          fmt::format("--budget {}: a service does not end; `throttletest job` runs a "
                      "command to its end",
                      word));
    }
    settings.budgets.push_back(budget);
  }
  if (!verdict.until_decided.empty()) {
    settings.options.until_decided =
        UntilDecided{.budgets = settings.budgets,
                     .error_rate = NumberOption("--until-decided", verdict.until_decided)};
  }
  settings.options.bounds = ReadBounds(verdict);
  settings.options.retries = verdict.retries;
  ReadEndpoint(load, settings.options);
  Validate(settings.traffic, settings.options);
  settings.lock = ReadLock(verdict);
  if (!verdict.json.empty()) CheckWritable(verdict.json);
  return settings;
}

}  // namespace throttletest::cli
