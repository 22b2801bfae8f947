#include "measure/overlap.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace throttletest::internal {

Overlap OverlapOf(const LoadResult& load) {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const RequestRecord& r : load.records) {
    if (r.sent_ns >= 0 && r.done_ns >= 0) spans.emplace_back(r.sent_ns, r.done_ns);
  }
  std::sort(spans.begin(), spans.end());
  Overlap overlap{.sent = static_cast<std::int64_t>(spans.size())};
  std::int64_t busy_until = -1;
  for (const auto& [sent, done] : spans) {
    if (sent < busy_until) ++overlap.overlapping;
    busy_until = std::max(busy_until, done);
    overlap.longest = std::max(overlap.longest, std::chrono::nanoseconds(done - sent));
  }
  return overlap;
}

}  // namespace throttletest::internal
