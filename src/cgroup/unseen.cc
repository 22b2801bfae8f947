#include "cgroup/unseen.h"

#include <algorithm>

namespace throttletest::internal {

using std::chrono::nanoseconds;

// cpu.stat.local of the leaf counts what its own or any ancestor's quota did to it. Where that was
// a visible level, the same time is in that level's cpu.stat, to the nanosecond (measured on 6.18).
Outcome<nanoseconds> HeldByUnseen(const std::vector<CpuLevel>& before,
                                  const std::vector<CpuLevel>& after) {
  if (before.empty() || after.empty() || !before.front().held_time || !after.front().held_time) {
    return Outcome<nanoseconds>::NotAvailable(
        "this kernel does not say whether a level that cannot be seen held it (cpu.stat.local "
        "needs "
        "6.6)");
  }
  nanoseconds held = *after.front().held_time - *before.front().held_time;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (!before[i].counters || !after[i].counters) continue;
    held -= after[i].counters->throttled_time - before[i].counters->throttled_time;
  }
  return Outcome<nanoseconds>::Value(std::max(held, nanoseconds(0)));
}

bool IsHeldByUnseen(const Outcome<nanoseconds>& held) {
  return held.optional().value_or(nanoseconds(0)) > std::chrono::milliseconds(1);
}

}  // namespace throttletest::internal
