#include "load/pacer.h"

#include <algorithm>

namespace throttletest::internal {
namespace {

constexpr std::int64_t kLongestPreparation = 200'000'000;
constexpr std::int64_t kShortestGap = 4'000'000;

}  // namespace

Pacer::Pacer(const Schedule& schedule, std::int64_t lead_ns)
    : schedule_(schedule),
      count_(schedule.batch_count()),
      start_ns_(count_ > 0 ? 0 : kNever),
      prepare_ns_(count_ > 0 ? -lead_ns : kNever) {}

void Pacer::Advance() {
  ++batch_;
  if (finished()) {
    start_ns_ = prepare_ns_ = kNever;
    return;
  }
  const std::int64_t before = start_ns_;
  start_ns_ = schedule_.StartOf(batch_).count();
  const std::int64_t gap = start_ns_ - before;
  prepare_ns_ = gap < kShortestGap ? before : start_ns_ - std::min(gap / 2, kLongestPreparation);
}

}  // namespace throttletest::internal
