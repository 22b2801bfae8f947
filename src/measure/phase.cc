#include "measure/phase.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t kFewestBatches = 3;

std::vector<std::uint16_t> KindsOf(const Schedule& schedule) {
  std::vector<std::uint16_t> kinds;
  kinds.reserve(static_cast<std::size_t>(schedule.request_count()));
  for (std::int64_t i = 0; i < schedule.request_count(); ++i) kinds.push_back(schedule.KindOf(i));
  return kinds;
}

bool AreFarApart(const Schedule& schedule, nanoseconds gap) {
  for (std::int64_t i = 1; i < schedule.batch_count(); ++i) {
    if (schedule.StartOf(i) - schedule.StartOf(i - 1) < gap) return false;
  }
  return true;
}

}  // namespace

bool IsInPhase(const Schedule& schedule, nanoseconds period) {
  if (schedule.batch_count() < kFewestBatches) return false;
  return std::all_of(schedule.batches().begin(), schedule.batches().end(),
                     [&](const Schedule::Batch& batch) {
                       const nanoseconds beyond = (batch.start - schedule.StartOf(0)) % period;
                       return std::min(beyond, period - beyond) * 20 <= period;
                     });
}

Schedule OutOfPhase(const Schedule& schedule, nanoseconds period) {
  if (!AreFarApart(schedule, 2 * period)) return schedule;
  // Multiples of the golden ratio fall evenly over a whole, however many of them are taken.
  constexpr double kGoldenRatio = 0.6180339887498949;
  std::vector<Schedule::Batch> batches = schedule.batches();
  double share = 0;
  for (Schedule::Batch& batch : batches) {
    batch.start += nanoseconds(std::llround(share * static_cast<double>(period.count())));
    share = std::fmod(share + kGoldenRatio, 1.0);
  }
  return Schedule(std::move(batches), KindsOf(schedule));
}

}  // namespace throttletest::internal
