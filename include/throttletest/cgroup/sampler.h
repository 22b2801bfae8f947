// TimelineSampler: reads a cgroup's counters every few milliseconds while load runs.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "throttletest/cgroup/snapshot.h"

namespace throttletest {

// Counter readings over time, oldest first.
struct Timeline {
  std::vector<Cgroup::Quick> samples;
  std::chrono::nanoseconds interval{0};
  // CPU time the sampler itself used. Source: CLOCK_THREAD_CPUTIME_ID of its thread.
  std::chrono::nanoseconds own_cpu{0};
  // Absent: empty. Otherwise why sampling ended early (the cgroup is gone).
  std::string stopped_because;
};

// Samples on its own thread on an absolute schedule from construction until Stop().
// `cgroup` must outlive it. Move-only. The destructor stops.
class TimelineSampler {
 public:
  // interval: > 0, default 10 ms. Errors: kInvalidArgument.
  explicit TimelineSampler(const Cgroup& cgroup,
                           std::chrono::nanoseconds interval = std::chrono::milliseconds(10),
                           Cgroup::QuickMemory memory = Cgroup::QuickMemory::kLeftOut);
  TimelineSampler(TimelineSampler&&) noexcept;
  TimelineSampler& operator=(TimelineSampler&&) noexcept;
  ~TimelineSampler();

  // The samples from number `first` on, while it runs. Safe to call from any thread. Absent: none
  // yet. Errors: none.
  std::vector<Cgroup::Quick> Since(std::size_t first) const;

  // Ends sampling (with one last sample) and hands over what was read. Errors: none.
  Timeline Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A stretch of time in which the service was held back.
struct ThrottledWindow {
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

// The windows a timeline shows: each sample whose throttled_periods or throttled_time grew marks
// the time since the growth could have begun, at most one `period` back. Overlapping windows are
// merged.
std::vector<ThrottledWindow> ThrottledWindows(const Timeline& timeline,
                                              std::chrono::microseconds period);

}  // namespace throttletest
