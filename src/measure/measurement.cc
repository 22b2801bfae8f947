#include "throttletest/measure/measurement.h"

#include <fmt/format.h>

#include <algorithm>

namespace throttletest {
namespace {

// Why a load has no per-batch figures at all.
constexpr const char* kNoBatches = "the load has no batches far enough apart to be told apart";

}  // namespace

Outcome<std::chrono::nanoseconds> Measurement::MedianBatchCpu() const {
  using Result = Outcome<std::chrono::nanoseconds>;
  if (batches.empty()) return Result::NotAvailable(kNoBatches);
  std::vector<std::chrono::nanoseconds> known;
  for (const BatchUse& batch : batches) {
    if (batch.cpu.has_value()) known.push_back(batch.cpu.value());
  }
  if (known.empty()) return batches.front().cpu;
  if (known.size() * 2 < batches.size()) {
    return Result::Inconclusive(fmt::format("the CPU time of only {} of {} batches is known",
                                            known.size(), batches.size()));
  }
  // The nearest-rank median, as for latencies.
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::nth_element(known.begin(), middle, known.end());
  return Result::Value(*middle);
}

Outcome<std::int64_t> Measurement::ThrottledBursts() const {
  using Result = Outcome<std::int64_t>;
  if (!cgroup.throttled_periods.has_value()) return cgroup.throttled_periods.As<std::int64_t>();
  if (batches.empty()) return Result::NotAvailable(kNoBatches);
  std::int64_t throttled = 0;
  for (const BatchUse& batch : batches) {
    // One unknown burst may be the throttled one.
    if (!batch.throttled_periods.has_value()) {
      return Result::Inconclusive(
          fmt::format("burst {}: {}", batch.batch, batch.throttled_periods.reason()));
    }
    if (batch.throttled_periods.value() > 0) ++throttled;
  }
  return Result::Value(throttled);
}

}  // namespace throttletest
