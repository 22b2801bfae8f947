#include "load/pacer.h"

#include <algorithm>

namespace throttletest::internal {
namespace {

constexpr std::int64_t kLongestPreparation = 200'000'000;
constexpr std::int64_t kShortestGap = 4'000'000;
constexpr std::int64_t kWatch = 500'000;
constexpr std::int64_t kShortestWatchedGap = 100'000'000;

}  // namespace

Pacer::Pacer(const std::vector<RequestRecord>& records, std::int64_t lead_ns) : records_(records) {
  Load(0);
  // The lead before the zero is there in any case, and all of it may be needed for a large batch.
  if (finished()) return;
  prepare_ns_ = std::min(prepare_ns_, start_ns_ - lead_ns);
  watch_ns_ = start_ns_ + lead_ns >= kShortestWatchedGap ? kWatch : 0;
}

void Pacer::Advance() {
  const std::int64_t before = start_ns_;
  first_request_ += size_;
  Load(before);
}

void Pacer::End() {
  size_ = 0;
  start_ns_ = prepare_ns_ = kNever;
  watch_ns_ = 0;
}

void Pacer::Load(std::int64_t before_ns) {
  End();
  const auto count = static_cast<std::int64_t>(records_.size());
  if (first_request_ >= count) return;
  const RequestRecord* const first = records_.data() + first_request_;
  for (; first_request_ + size_ < count && first[size_].batch == first->batch; ++size_) {
  }
  start_ns_ = first->intended_ns;
  const std::int64_t gap = start_ns_ - before_ns;
  watch_ns_ = gap >= kShortestWatchedGap ? kWatch : 0;
  prepare_ns_ = gap < kShortestGap ? before_ns : start_ns_ - std::min(gap / 2, kLongestPreparation);
}

}  // namespace throttletest::internal
