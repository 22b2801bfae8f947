// The options that say how a measurement is judged and where its result goes, and what they make
// together with those of the load. Shared by `throttletest run` and `throttletest attach`.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/load_options.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/measure.h"
#include "throttletest/service/host_lock.h"

namespace throttletest::cli {

// As typed.
struct VerdictText {
  std::vector<std::string> budgets;
  std::string until_decided;  // the error rate; empty: not asked for
  std::string max_start_lag, max_steal, max_others_cpu;
  std::optional<std::int64_t> max_own_throttled, min_periods;
  int retries = 2;
  std::string json;
  bool quiet = false, no_lock = false;
};

// What to measure on whatever service, as understood.
struct MeasureSettings {
  Traffic traffic = Traffic(Batches(1), Request{});
  std::vector<Budget> budgets;
  MeasureOptions options;
  HostLockOptions lock;
};

// Those that a job has as well; `budget_help` is the description of --budget.
void DeclareJudgeOptions(CLI::App& app, VerdictText& text, const std::string& budget_help);
// Understands them. Errors: kInvalidArgument naming the option.
ValidityBounds ReadBounds(const VerdictText& text);
HostLockOptions ReadLock(const VerdictText& text);

// Declares the options on `app`, bound to `text`.
void DeclareVerdictOptions(CLI::App& app, VerdictText& text);

// Understands the options of load and verdict, before anything starts. Errors: kInvalidArgument
// naming the option.
MeasureSettings ReadMeasurement(const LoadText& load, const VerdictText& verdict);

}  // namespace throttletest::cli
