// RunFigures: the few numbers of a run that are compared with those of other runs. All of them are
// better the lower they are.
//
//   const Outcome<double> p99 = FiguresOf(m).at(RunFigure::kP99);
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "throttletest/base/outcome.h"
#include "throttletest/measure/measurement.h"

namespace throttletest {

enum class RunFigure {
  kP50,            // response time, ms; infinite when that request never got its answer
  kP90,            // the same
  kP99,            // the same
  kThrottleRatio,  // 0..1
  kBatchCpu,       // median CPU time of one batch, ms
  kErrorRatio,     // 0..1
};
inline constexpr std::array<RunFigure, 6> kRunFigures = {
    RunFigure::kP50,           RunFigure::kP90,      RunFigure::kP99,
    RunFigure::kThrottleRatio, RunFigure::kBatchCpu, RunFigure::kErrorRatio};

// The key in files: "p99_ms", "throttle_ratio", "batch_cpu_ms".
const char* RunFigureName(RunFigure figure);
// The subject of a sentence: "P99", "throttle ratio", "CPU time of a batch".
const char* RunFigureSubject(RunFigure figure);
// "41.2 ms", "0.280", "no answer".
std::string RunFigureText(RunFigure figure, double value);

// One value a figure, each with its three outcomes.
class RunFigures {
 public:
  Outcome<double>& at(RunFigure figure) { return values_.at(static_cast<std::size_t>(figure)); }
  const Outcome<double>& at(RunFigure figure) const {
    return values_.at(static_cast<std::size_t>(figure));
  }

 private:
  std::array<Outcome<double>, kRunFigures.size()> values_;
};

// Takes them from a run; whether the run may be trusted is not looked at. A figure that a Budget
// could not judge (no quota, too few samples or periods) has the same reason here. Errors: none.
RunFigures FiguresOf(const Measurement& m);

}  // namespace throttletest
