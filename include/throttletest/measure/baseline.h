// Baselines: the figures of earlier runs in a JSON file that lives beside the tests and is reviewed
// like them, and the question whether a new run is worse.
//
//   BaselineFile file = ReadBaselines("throttletest_baselines.json");
//   const BudgetResult verdict = JudgeBaseline(file, "burst", m);
//   AddBaselineRun(file, "burst", m);  // then write ToJson(file)
//
// The file, the rule and its formula are described in docs/baselines.md.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "throttletest/measure/budget.h"
#include "throttletest/measure/figures.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

// Schema name written into every file.
inline constexpr const char* kBaselineSchema = "throttletest/baselines/1";
// Fewer runs say nothing about how much they spread.
inline constexpr std::size_t kFewestBaselineRuns = 3;
// When one more is added, the oldest goes.
inline constexpr std::size_t kMostBaselineRuns = 10;

struct BaselineRun {
  std::string date = {};  // UTC, ISO 8601
  RunFigures figures = {};
};

// Runs that can be compared: the same machine, load and limits.
struct BaselineRuns {
  // "cgroup_mode", "cpu_model", "kernel", "launcher", "online_cpus"; unknown ones are "unknown".
  std::map<std::string, std::string> environment = {};
  std::string plan = {};
  std::string request = {};
  // "cpus" -> "0.5", "period" -> "100 ms", ...; a limit that is not set has no entry.
  std::map<std::string, std::string> limits = {};
  std::vector<BaselineRun> runs = {};  // oldest first
};

// One file: by name, one group of runs for each environment.
struct BaselineFile {
  std::string path = {};
  std::map<std::string, std::vector<BaselineRuns>> baselines = {};
};

// Reads a file's text; `path` is for messages. Errors: kParse naming the file, the line or the
// field, and what is wrong with it. Strict: unknown and repeated keys are refused, because what is
// not read would be lost when the file is written.
BaselineFile ParseBaselines(const std::string& text, const std::string& path);
// Reads a file. Absent: a file that does not exist has no baselines. Errors: as ParseBaselines, and
// kParse when it cannot be read.
BaselineFile ReadBaselines(const std::string& path);
// The file's text: sorted names, one run a line, so that a change reviews well.
std::string ToJson(const BaselineFile& file);

// Adds a run to those of its environment. Runs there of another load or of other limits are
// replaced, because they describe what the test no longer asks for. Returns one line that says what
// was done. Errors: kInvalidArgument for an empty name, a run that is not trusted, or a percentile
// that fell on a request without an answer; the file is then as before.
std::string AddBaselineRun(BaselineFile& file, const std::string& name, const Measurement& m);

struct BaselineBound {
  // How far above the mean of the stored runs a figure may be in any case, as a share. Units: >= 0,
  // default 0.05, that is 5 %. For the two ratios 0.01 is allowed in any case.
  double tolerance = 0.05;
  // Appended where runs are missing: how to write them.
  std::string hint = {};
};

// Is `m` no worse than the stored runs?
//
// Missed: a figure is above mean + max(t x s x sqrt(1 + 1/n), tolerance x mean), with mean,
// standard deviation s and number n of the stored runs and t of Student's distribution (99 %,
// one-sided): the upper end of the prediction interval for one more run. When the limits differ
// from the stored ones, they are named as the likely cause. Inconclusive: no such baseline, fewer
// than kFewestBaselineRuns runs, another environment or load (each field is named), a run that is
// not trusted, or a figure the stored runs have and this one lacks. Errors: none.
BudgetResult JudgeBaseline(const BaselineFile& file, const std::string& name, const Measurement& m,
                           const BaselineBound& bound = {});

}  // namespace throttletest
