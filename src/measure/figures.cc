#include "throttletest/measure/figures.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "measure/reading.h"

namespace throttletest {
namespace {

struct FigureInfo {
  const char* name;
  const char* subject;
  bool is_time;
};

constexpr std::array<FigureInfo, kRunFigures.size()> kInfo = {{
    {"p50_ms", "P50", true},
    {"p90_ms", "P90", true},
    {"p99_ms", "P99", true},
    {"throttle_ratio", "throttle ratio", false},
    {"batch_cpu_ms", "CPU time of a batch", true},
    {"error_ratio", "error ratio", false},
}};

const FigureInfo& InfoOfFigure(RunFigure figure) {
  return kInfo.at(static_cast<std::size_t>(figure));
}

constexpr double kNanosecondsPerMillisecond = 1e6;

Outcome<double> Read(const Measurement& m, Metric metric, std::optional<Percentile> percentile) {
  using Result = Outcome<double>;
  const internal::Reading reading = internal::ReadMetric(m, metric, percentile);
  if (!reading.inconclusive.empty()) return Result::Inconclusive(reading.inconclusive);
  if (reading.no_answer) return Result::Value(std::numeric_limits<double>::infinity());
  if (!reading.value) return Result();
  return Result::Value(percentile ? *reading.value / kNanosecondsPerMillisecond : *reading.value);
}

Outcome<double> ResponseTime(const Measurement& m, double percent) {
  return Read(m, Metric::kResponseTime, Percentile(percent));
}

// "No quota in force" is not the same as "measured, but not to be trusted".
Outcome<double> ThrottleRatio(const Measurement& m) {
  const Outcome<double>& ratio = m.cgroup.throttle_ratio;
  if (ratio.kind() == OutcomeKind::kNotAvailable) return ratio;
  return Read(m, Metric::kThrottleRatio, std::nullopt);
}

Outcome<double> BatchCpu(const Measurement& m) {
  const auto cpu = m.MedianBatchCpu();
  if (!cpu.has_value()) return cpu.As<double>();
  return Outcome<double>::Value(static_cast<double>(cpu.value().count()) /
                                kNanosecondsPerMillisecond);
}

}  // namespace

const char* RunFigureName(RunFigure figure) { return InfoOfFigure(figure).name; }

const char* RunFigureSubject(RunFigure figure) { return InfoOfFigure(figure).subject; }

std::string RunFigureText(RunFigure figure, double value) {
  const bool is_time = InfoOfFigure(figure).is_time;
  if (std::isinf(value)) return is_time ? "no answer" : "infinite";
  if (!is_time) return fmt::format("{:.3f}", value);
  // Three digits tell two fast services apart.
  return std::abs(value) < 10 ? fmt::format("{:.3f} ms", value) : fmt::format("{:.1f} ms", value);
}

RunFigures FiguresOf(const Measurement& m) {
  RunFigures figures;
  figures.at(RunFigure::kP50) = ResponseTime(m, 50);
  figures.at(RunFigure::kP90) = ResponseTime(m, 90);
  figures.at(RunFigure::kP99) = ResponseTime(m, 99);
  figures.at(RunFigure::kThrottleRatio) = ThrottleRatio(m);
  figures.at(RunFigure::kBatchCpu) = BatchCpu(m);
  figures.at(RunFigure::kErrorRatio) = Read(m, Metric::kErrorRatio, std::nullopt);
  return figures;
}

}  // namespace throttletest
